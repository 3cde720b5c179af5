// Shared parts of the poolings.
#pragma once

#include "import/call/call.h"

namespace solstice::importer {

// Votes for the names of the last `space` axes and of those before them.
void hint_plane(Call& call, const Value& x, int space);

// Windows of the last axes.
struct PoolWindows {
  Axes axes;  // of the result
  std::vector<Loop> window;
  Indices position;  // along each of the last axes of x
  TermRef where;     // positions in x and in the window; null: all
};

// The position in x's plane of the first greatest element of each window; `element` is x at the positions.
Value greatest(Call& call, const Value& x, const PoolWindows& windows, const TermRef& element);

}  // namespace solstice::importer
