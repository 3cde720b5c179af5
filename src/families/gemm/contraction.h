// A product of the family: one sum over a product of two operands in a kernel's equations (reads, or elementwise
// equations of reads), with a role for every index; or two such sums that share an operand and its roles (the
// products of a gated activation).
//
// Roles are those of ir/analysis/contraction.h. Several indices of one role are walked as one, so each operand must
// step through them with one stride (the normal form splits `//` and
// `%` before; indices that still do not flatten are refused with the reason).
#pragma once

#include <optional>
#include <vector>

#include "families/gemm/operand.h"
#include "families/tensor_core/product.h"

namespace solstice::families::gemm {

using namespace tensor_core;  // whose types the family extends

enum class Grouped {
  kNone,
  kRows,  // y[m,n] = sum[k](a[m,k] * b[group(m),n,k])
  kK      // y[g,m,n] = sum[k where group(k) == g](a[k,m] * b[k,n])
};

// Another row of an operand than the row itself; without `at`: the row itself.
struct RowSource {
  ir::ExprRef at;
  int64_t rows = 0;  // of the operand
};

struct Grouping {
  Grouped kind = Grouped::kNone;
  ir::ExprRef of;      // a row's group: an integer over the rows' indices (M, or K of a gradient)
  int64_t groups = 0;  // others than 0 .. groups - 1 belong to none
  RowSource a, b;
};

// A second sum over the same A: its B has the extents, the contiguous dimension and the format of the first's.
struct SecondSum {
  int equation = -1;
  const ir::Expr* node = nullptr;
  std::vector<int> batch_indices, m_indices, n_indices;  // of its own equation; they walk like the first's, one by one
  OperandAccess b;
};

struct Contraction : Product {
  std::vector<int> k_indices;  // of its equation, outermost first
  OperandAccess a, b;
  Grouping grouping;
  std::optional<SecondSum> second;
};

inline bool is_grouped(const Contraction& c) { return c.grouping.kind != Grouped::kNone; }

}  // namespace solstice::families::gemm
