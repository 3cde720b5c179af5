// A run's search tree for a terminal: one line a node, children under their parent in the order in which they were
// proposed.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "cli/view/run_view.h"

namespace solstice::cli {

struct TreeLook {
  size_t width = 120;        // of a line, in characters; what is longer is clipped
  bool lines = false;        // box-drawing characters; else ASCII
  std::optional<int> depth;  // nodes below it are counted, not shown
  bool only_usable = false;  // failures only where something usable was derived from them
};

// The terminal's width, and box drawing where it is one (TERM not "dumb") that speaks UTF-8.
TreeLook look_for(std::FILE* out);

std::string tree_text(const RunView& view, const TreeLook& look);

}  // namespace solstice::cli
