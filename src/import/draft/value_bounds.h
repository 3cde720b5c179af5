// Bounds of integer tensors, as far as they were asked for (value_range.h).
#pragma once

#include <map>
#include <optional>
#include <vector>

namespace solstice::importer {

struct ValueBounds {
  double low = 0;
  double high = 0;  // inclusive; infinite where the equations leave it open
};

// Kept with the draft, so that each of its items is looked at once, however many values are asked about. What it says
// of a tensor counts as long as no other piece of it is written.
struct KnownBounds {
  struct Found {
    size_t pieces = 0;  // that it is of
    std::optional<ValueBounds> bounds;
  };
  size_t items = 0;                            // of the draft that `writers` has seen
  std::map<int, std::vector<size_t>> writers;  // of each tensor
  std::map<int, Found> found, by_format;       // by_format: where formats of integers bound values too
};

}  // namespace solstice::importer
