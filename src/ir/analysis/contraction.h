// Contractions: sums of a product of two operands, and the role of every index in one. This is the only recogniser: the
// count of work (work.h, factoring.h), the normal form, error models and the families that run them ask here.
//
// batch: in both operands and in the result; M: in A and the result; N: in B and the result; K: summed, in A and B.
#pragma once

#include <optional>
#include <vector>

#include "ir/domain.h"
#include "ir/program.h"

namespace solstice::ir {

enum class Role { kBatch, kM, kN, kK, kReduced, kAbsent };  // kReduced: summed, and not in both; kAbsent: in neither
// Role of an index that is summed or of the result, by the operands that vary with it.
Role role_of(bool summed, bool in_a, bool in_b);

// A sum of a product in an equation's right side: sum[k where condition](a * b).
struct ProductSum {
  const Expr* node = nullptr;  // the sum

  const ExprRef& a() const { return node->args[0]->args[0]; }
  const ExprRef& b() const { return node->args[0]->args[1]; }
  const Expr* condition() const { return node->args.size() > 1 ? node->args[1].get() : nullptr; }
  bool is_of_reads() const;
  bool is_summed(int index) const;
};
// Each once, however often it occurs (`z * erf(z)` has one shared node), outermost first.
std::vector<ProductSum> product_sums(const Equation& equation);

// A read as an operand: an affine form of the equation's indices for each dimension of the tensor; nothing where the
// dimension gathers. Without the value of its `else`.
struct Access {
  explicit Access(const Expr& read);

  int tensor = -1;
  std::vector<std::optional<Affine>> at;
  bool moves_with(int index) const;  // linearly, in a dimension or more
};

bool reads_anything(const ExprRef& e);  // a factor that is data, not a number

// Indices that address a tensor themselves, not through the values of another: of w[expert[m],n,k] n and k.
IndexSet direct_indices(const ExprRef& e);

// Indices that an operand depends on: all of them, and the direct ones.
struct Operand {
  IndexSet all;
  IndexSet direct;
};

// Tensor cores need an index of the result that only A has, and one that only B has. An index that selects a slice of
// one operand by a gather (the expert of a token) does not make the operands share it.
bool is_contraction(const Operand& a, const Operand& b);

// The equation sums products of two factors over an index that both vary along, each read at other indices than the
// other: a product of matrices, of a matrix and a vector, a convolution. Not a norm, and not what is multiplied element
// by element.
bool has_contraction(const Equation& equation);

}  // namespace solstice::ir
