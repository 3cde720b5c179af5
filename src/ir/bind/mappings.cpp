// Views and assumptions: equations that are declared, not computed.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/bind/binder.h"
#include "ir/bind/elaborate.h"

namespace solstice::ir {
namespace {

struct Reach {
  int64_t low = 0, high = 0;
};

// An overflow gives a reach far beyond any tensor.
Reach reach_of(const Affine& form, const std::vector<Index>& indices) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  Reach out{std::clamp(form.offset, -kFar, kFar), std::clamp(form.offset, -kFar, kFar)};
  for (const auto& [id, c] : form.terms) {
    int64_t most = 0;
    if (__builtin_mul_overflow(c, indices[static_cast<size_t>(id)].extent - 1, &most)) most = c < 0 ? -kFar : kFar;
    int64_t& end = most < 0 ? out.low : out.high;
    end = std::clamp(end + std::clamp(most, -kFar, kFar), -kFar, kFar);
  }
  return out;
}

}  // namespace

std::optional<Draft> Binder::lone_draft(const lang::Equation& e, Span span, int target, Scope& scope) {
  Draft d;
  d.source = &e;
  d.equation.span = span;
  d.equation.target = target;
  Elaborator elaborator(*this, scope, d);
  elaborator.left_side(e, span);
  d.equation.rhs = elaborator.value(e.rhs);
  if (!d.equation.rhs || d.failed) return std::nullopt;
  solve(d);
  check_extents(d);
  if (d.failed) return std::nullopt;
  check_ranges(d);
  return d;
}

// `view v[...] = one read`: remembered as a piece of the view, folded into every read of it.
void Binder::view(const lang::Equation& e, Span span, Scope& scope) {
  if (e.rhs->kind != lang::ExprKind::kRead) {
    error("E022", span, fmt::format("the view `{}` is not one read", e.target),
          "a view maps indices: `view v[i,j] = x[j,i]`; to compute, write an equation");
    return;
  }
  const auto known = scope.symbols.find(e.target);
  const bool fresh = known == scope.symbols.end();
  if (!fresh && known->second.view < 0) {
    error("E008", span, fmt::format("`{}` is declared twice", e.target), "a view has a name of its own");
    return;
  }
  const std::optional<Draft> drafted = lone_draft(e, span, -1, scope);
  if (!drafted) lost_.insert(e.target);
  if (!drafted) return;
  const Equation& equation = drafted->equation;
  if (fresh) {
    Symbol symbol;
    symbol.view = static_cast<int>(views_.size());
    symbol.dims.assign(e.lhs.size(), "");
    give_name(scope, e.target, symbol);
    views_.push_back({e.target, equation.rhs->kind, std::vector<int64_t>(e.lhs.size(), 0), {}, span});
  }
  Symbol& symbol = scope.symbols[e.target];
  View& v = views_[static_cast<size_t>(symbol.view)];
  if (v.shape.size() != e.lhs.size()) {
    error("E006", span,
          fmt::format("`{}` has rank {} but {} indices on the left", e.target, v.shape.size(), e.lhs.size()),
          "one index a dimension");
    return;
  }
  ViewPiece piece;
  piece.indices = equation.indices;
  piece.rhs = equation.rhs;
  for (size_t i = 0; i < equation.lhs.size(); ++i) {
    const Affine form = *as_affine(equation.lhs[i]);
    const Reach reach = reach_of(form, piece.indices);
    if (reach.low < 0) {
      error("E001", span,
            fmt::format("index {} on the left of the view `{}` reaches {}..{}", i, e.target, reach.low, reach.high),
            "elements are counted from 0: `v[i] = x[N-1-i]` turns an axis around");
      lost_.insert(e.target);
      return;
    }
    v.shape[i] = std::max(v.shape[i], reach.high + 1);
    if (equation.lhs[i]->op == Op::kIndex && fresh)
      symbol.dims[i] = piece.indices[static_cast<size_t>(equation.lhs[i]->id)].dim;
    piece.lhs.push_back(form);
  }
  if (!check_size(e.target, v.shape, 1, span)) lost_.insert(e.target);
  v.pieces.push_back(std::move(piece));
}

void Binder::assume(const lang::Equation& e, Span span, Scope& scope) {
  const auto known = scope.symbols.find(e.target);
  const bool buffer = known != scope.symbols.end() && known->second.tensor >= 0 &&
                      program_.tensor(known->second.tensor).kind == TensorKind::kBuffer;
  if (!buffer) {
    error("E022", span, fmt::format("`assume` speaks of a buffer; `{}` is none", e.target),
          "params, inputs and results cannot be assumed");
    return;
  }
  if (program_.tensor(known->second.tensor).shape.size() != e.lhs.size()) {
    error("E006", span,
          fmt::format("`{}` has rank {} but {} indices on the left", e.target,
                      program_.tensor(known->second.tensor).shape.size(), e.lhs.size()),
          "one index a dimension");
    return;
  }
  std::optional<Draft> drafted = lone_draft(e, span, known->second.tensor, scope);
  if (!drafted) return;
  if (!drafted->reads.empty()) {
    error("E022", drafted->reads[0].span,
          fmt::format("the closed form of `{}` reads `{}`", e.target, program_.tensor(drafted->reads[0].read->id).name),
          "a buffer is held against its form when it is loaded: the form is of indices and dims alone");
    return;
  }
  if (!describes_whole(program_, drafted->equation)) {
    error("E022", span, fmt::format("`assume` says only what a part of `{}` is", e.target),
          "it says what every element is: one index a dimension, over its whole extent");
    return;
  }
  program_.assumptions.push_back(std::move(drafted->equation));
}

}  // namespace solstice::ir
