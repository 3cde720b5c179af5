// One unrolled loop: which items are its steps, and how each step's reads and integers depend on the step.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "import/loops/loop_item.h"

namespace solstice::importer {

struct Unrolled {
  size_t first = 0, period = 0, count = 0;  // items [first, first + period * count)

  struct Read {
    int position = -1;  // of the item in the step that writes what is read; -1: the same tensor in all steps
    int distance = 0;   // steps back: 0 or 1
    int initial = -1;   // distance 1: what the first step reads
  };
  struct Offset {
    int64_t start = 0, step = 0;
  };
  // The literal start + step * t, in the units of LoopItem::Number; without a step it is what it was.
  struct Number {
    int64_t start = 0, step = 0;
    static bool is_whole(int64_t units) { return units % (int64_t{1} << 32) == 0; }
    bool is_whole() const { return is_whole(start) && is_whole(step); }
  };
  struct Place {
    bool pieces = false;  // all steps write one tensor
    std::vector<Read> reads;
    std::vector<Offset> offsets;
    std::vector<Number> numbers;
  };
  std::vector<Place> places;                    // of the items of one step
  std::vector<std::pair<DimId, DimId>> joined;  // extents that must be equal
  // Values handed on by the step before: tensors, and reads of them.
  std::pair<size_t, int> carried;

  size_t last() const { return first + period * count; }
  size_t at(size_t step, size_t position) const { return first + step * period + position; }
};

// Nothing where the stretch is no loop. `writers`: the items that write each tensor.
std::optional<Unrolled> unrolled(const std::vector<LoopItem>& items, const std::map<int, std::vector<size_t>>& writers,
                                 size_t first, size_t period, size_t count);

}  // namespace solstice::importer
