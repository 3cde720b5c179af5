// An equation as a candidate for one step of an unrolled loop: its structure, and apart from it what may change from
// step to step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/draft/draft.h"

namespace solstice::importer {

struct LoopItem {
  std::string structure;  // "" for what is no equation, or a loop already: recurrences do not nest
  int target = -1;
  std::vector<int> reads;     // tensors read, in the order of a TermMapper's visits
  std::vector<Size> offsets;  // constant parts of indices, which may differ
  struct Number {
    std::string text;              // of numbers without units
    std::optional<int64_t> units;  // the exact value in 2^-32, of those below 2^29 that are a multiple of it
  };
  std::vector<Number> numbers;  // literals, which may differ
  std::vector<Size> sizes;      // the other sizes and extents that are no numbers
};

LoopItem::Number loop_number(const Term& term);  // is_number

// Offsets and numbers of three items alike, at equal distances, grow by the same steps.
bool grow_evenly(const LoopItem::Number& a, const LoopItem::Number& b, const LoopItem::Number& c);
bool grow_evenly(const LoopItem& a, const LoopItem& b, const LoopItem& c);

LoopItem loop_item(const Draft& draft, const DraftItem& item);

}  // namespace solstice::importer
