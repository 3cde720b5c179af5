// Elements of a tensor at which two programs are compared (docs/equivalence.md).
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// Numbers at which something changes: ends of pieces, numbers that indices are compared with, and how many remainders
// count.
struct Boundaries {
  std::set<int64_t> values;
  int64_t residues = 1;

  void add(const Program& program);
};

// Row-major positions without repetition, in an order in which any beginning is a fair choice: all of a small tensor;
// else corners (combinations of 0, 1, the middle and the last two), where boundaries of several dims meet, both sides
// of every boundary, the first and last of all residues, and random elements.
std::vector<int64_t> positions_of(const std::vector<int64_t>& shape, const Boundaries& boundaries);

}  // namespace solstice::ir
