// A graph that PyTorch cannot have written: operands and arguments that do not fit each other. Rules and the algebra of
// sizes, indices and axes take for granted that they fit, and throw where they do not, as `at` of the standard
// lists does; the importer catches both and refuses the node. Nothing outside the importer sees an exception.
#pragma once

#include <cstdint>
#include <string>

namespace solstice::importer {

struct Damage {
  std::string why;
};

[[noreturn]] void damaged(std::string why);

// Sums and products of extents, strides and positions; beyond 64 bits they are damage.
int64_t sum_of(int64_t a, int64_t b);
int64_t product_of(int64_t a, int64_t b);

}  // namespace solstice::importer
