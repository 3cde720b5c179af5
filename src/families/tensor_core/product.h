// The product that tensor cores compute for a family: one sum whose results are the elements of matrices of M rows and
// N columns. An implicit GEMM has its pixels in M, its filters in N and its channels and taps in K. Operands and their
// way into shared memory are the family's, which derives its own type from this one.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace solstice::families::tensor_core {

struct Product {
  int equation = -1;                                     // id in the program
  const ir::Expr* node = nullptr;                        // the sum
  std::vector<int> batch_indices, m_indices, n_indices;  // free indices of that equation, outermost first
  int64_t batches = 1, m = 1, n = 1, k = 1;              // k: terms of the sum
};

}  // namespace solstice::families::tensor_core
