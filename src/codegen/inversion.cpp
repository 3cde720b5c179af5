#include "codegen/inversion.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/linear.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::ValueKind;

ExprRef minus(Interner& interner, const ExprRef& e, int64_t offset) {
  if (offset == 0) return e;
  return interner.node(Op::kSub, ValueKind::kInt, {e, interner.integer(offset)});
}

ExprRef divided(Interner& interner, Op op, const ExprRef& e, int64_t by) {
  if (by == 1) return op == Op::kFloorDiv ? e : interner.integer(0);
  return interner.node(op, ValueKind::kInt, {e, interner.integer(by)});
}

// One dimension: digits from the largest coefficient down, the rest must be zero.
void invert_dimension(Interner& interner, const ir::Program& program, const ir::Equation& equation,
                      const ir::Affine& form, const ExprRef& argument, Inversion& out) {
  auto terms = form.terms;
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  ExprRef rest = minus(interner, argument, form.offset);
  for (const auto& [id, coefficient] : terms) {
    const ExprRef digit = divided(interner, Op::kFloorDiv, rest, coefficient);
    const int64_t extent = equation.indices[static_cast<size_t>(id)].extent;
    out.inside = both(interner, out.inside, in_range(interner, program, digit, 0, extent - 1));
    out.indices[id] = digit;
    rest = divided(interner, Op::kMod, rest, coefficient);
  }
  out.inside = both(interner, out.inside, in_range(interner, program, rest, 0, 0));
}

}  // namespace

ExprRef both(Interner& interner, const ExprRef& a, const ExprRef& b) {
  if (!a) return b;
  if (!b) return a;
  return interner.node(Op::kAnd, ValueKind::kBool, {a, b});
}

ExprRef in_range(Interner& interner, const ir::Program& program, const ExprRef& e, int64_t lo, int64_t hi) {
  const Interval range = interval_of(interner, program, e);
  ExprRef out;
  if (range.lo < lo) out = interner.node(Op::kGe, ValueKind::kBool, {e, interner.integer(lo)});
  if (range.hi > hi) {
    out = both(interner, out, interner.node(Op::kLe, ValueKind::kBool, {e, interner.integer(hi)}));
  }
  return out;
}

Result<Inversion> invert(Interner& interner, const ir::Program& program, const ir::Equation& equation,
                         const std::vector<ExprRef>& arguments) {
  Inversion out;
  for (size_t d = 0; d < equation.lhs.size(); ++d) {
    // The left side speaks in the equation's own indices: read its form without an interner's extents.
    const auto form = ir::as_affine(equation.lhs[d]);
    const bool positive =
        form && std::all_of(form->terms.begin(), form->terms.end(), [](const auto& term) { return term.second > 0; });
    if (!positive) {
      return fail(Code::program_invalid,
                  fmt::format("the left side `{}` is not a sum of indices times positive constants",
                              ir::to_text(program, equation, equation.lhs[d])));
    }
    invert_dimension(interner, program, equation, *form, arguments[d], out);
  }
  return out;
}

}  // namespace solstice::codegen
