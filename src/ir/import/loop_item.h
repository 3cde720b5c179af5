// An equation as a candidate for one step of an unrolled loop: its structure, and beside it what may change from step
// to step.
#pragma once

#include <string>
#include <vector>

#include "ir/import/draft.h"

namespace solstice::ir::importer {

struct LoopItem {
  std::string structure;  // "" for what is no equation, or a loop already: recurrences do not nest
  int target = -1;
  std::vector<int> reads;     // tensors read, in the order of a TermMapper's visits
  std::vector<Size> offsets;  // constant parts of indices; `moving` numbers may differ
  std::vector<Size> sizes;    // the other sizes and extents that are no numbers
};

LoopItem loop_item(const Draft& draft, const DraftItem& item);

}  // namespace solstice::ir::importer
