#include <algorithm>

#include "base/integer.h"
#include "ir/program.h"

namespace solstice::ir {
namespace {

std::optional<Affine> combine(const Affine& a, const Affine& b, int64_t factor) {
  Affine out;
  if (!add_scaled(a.offset, factor, b.offset, out.offset)) return std::nullopt;
  size_t i = 0;
  size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool take_a = j == b.terms.size() || (i < a.terms.size() && a.terms[i].first <= b.terms[j].first);
    const bool take_b = i == a.terms.size() || (j < b.terms.size() && b.terms[j].first <= a.terms[i].first);
    const int id = take_a ? a.terms[i].first : b.terms[j].first;
    int64_t coefficient = 0;
    if (take_a) coefficient += a.terms[i++].second;
    if (take_b && !add_scaled(coefficient, factor, b.terms[j++].second, coefficient)) return std::nullopt;
    if (coefficient != 0) out.terms.emplace_back(id, coefficient);
  }
  return out;
}

}  // namespace

int64_t Affine::coefficient(int index) const {
  for (const auto& [id, value] : terms) {
    if (id == index) return value;
  }
  return 0;
}

std::optional<Affine> as_affine(const ExprRef& e) {
  switch (e->op) {
    case Op::kInt:
      return Affine{e->integer, {}};
    case Op::kIndex:
      return Affine{0, {{e->id, 1}}};
    case Op::kNeg: {
      const auto a = as_affine(e->args[0]);
      return a ? combine(Affine{}, *a, -1) : std::nullopt;
    }
    case Op::kAdd:
    case Op::kSub: {
      const auto a = as_affine(e->args[0]);
      const auto b = a ? as_affine(e->args[1]) : std::nullopt;
      return b ? combine(*a, *b, e->op == Op::kAdd ? 1 : -1) : std::nullopt;
    }
    case Op::kMul: {
      const auto a = as_affine(e->args[0]);
      const auto b = a ? as_affine(e->args[1]) : std::nullopt;
      if (!b || (!a->is_constant() && !b->is_constant())) return std::nullopt;
      return a->is_constant() ? combine(Affine{}, *b, a->offset) : combine(Affine{}, *a, b->offset);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace solstice::ir
