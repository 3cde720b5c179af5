// Text of how threads walk rows: which row and tile is whose, and which elements a vector holds.
#pragma once

#include <string>
#include <string_view>

#include "families/scan/shape.h"

namespace solstice::families::scan {

struct WalkText {
  const Shape& shape;
  std::string_view index_type;  // holds the number of any vector

  // A thread's number among those that share a row; a row of one block is known here too.
  std::string thread() const;
  // The block's tile in a round of the grid: its number, and its row.
  std::string of_round(std::string_view round) const;
  // Place of vector `u`: its number `k` in the scan's order and `at` along the row; for shifted rows also `begin`, its
  // first element in the row, and `whole`, false for partial vectors.
  std::string place() const;
  // The test, if one is needed, that vector `u` exists.
  std::string inside() const;
  // The set of slots, of two, that the tile's warps use.
  std::string_view turn() const { return shape.grid > 0 ? "round % 2" : "tile % 2"; }

 private:
  int64_t inner_vectors() const;
};

}  // namespace solstice::families::scan
