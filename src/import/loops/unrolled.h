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
  // The step that all others are written as: 1 where the first one has other terms in place of what is handed on.
  size_t pattern = 0;

  struct Read {
    int position = -1;  // of the item in the step that writes what is read; -1: the same tensor in all steps
    int distance = 0;   // steps back: 0 or 1
    int initial = -1;   // distance 1: what the first step reads, at the same indices
    TermRef given;      // or what it has instead, over the loops of the pattern's equation
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

// The items that write each tensor.
using Writers = std::map<int, std::vector<size_t>>;

// Nothing where the stretch is no loop.
std::optional<Unrolled> unrolled(const std::vector<LoopItem>& items, const Writers& writers, size_t first,
                                 size_t period, size_t count);

}  // namespace solstice::importer
