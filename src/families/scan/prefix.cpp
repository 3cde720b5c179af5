#include "families/scan/prefix.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "codegen/linear.h"
#include "codegen/recurrence.h"
#include "ir/walk_distinct.h"

namespace solstice::families::scan {
namespace {

using ir::ExprRef;
using ir::Op;

void split_conjunction(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op != Op::kAnd) return out.push_back(e);
  for (const ExprRef& arg : e->args) split_conjunction(arg, out);
}

// The form that a comparison states to be at most 0.
std::optional<ir::Affine> bounded_form(const codegen::Interner& indices, const ExprRef& e) {
  const bool below = e->op == Op::kLt || e->op == Op::kLe, above = e->op == Op::kGt || e->op == Op::kGe;
  if (!below && !above) return std::nullopt;
  const auto left = codegen::linear_form(indices, e->args[0]), right = codegen::linear_form(indices, e->args[1]);
  if (!left || !right) return std::nullopt;
  ir::Affine out =
      below ? codegen::add(*left, codegen::scale(*right, -1)) : codegen::add(*right, codegen::scale(*left, -1));
  if (e->op == Op::kLt || e->op == Op::kGt) ++out.offset;
  return out;
}

// End of a prefix, given by a condition a*binder + b*along + offset <= 0, with a and b being 1 or -1.
struct End {
  int along = -1;
  int64_t a = 0, b = 0, offset = 0;
};

std::optional<End> end_of(const codegen::Interner& indices, const ExprRef& condition, int binder) {
  const auto form = bounded_form(indices, condition);
  if (!form || form->terms.size() != 2) return std::nullopt;
  End out;
  out.offset = form->offset;
  for (const auto& [id, c] : form->terms) {
    if (c != 1 && c != -1) return std::nullopt;
    (id == binder ? out.a : out.b) = c;
    if (id != binder) out.along = id;
  }
  return out.a != 0 && out.b != 0 ? std::optional(out) : std::nullopt;
}

Error no_scan(Code code, const char* reason) {
  return fail(code, fmt::format("not a prefix along one index: {}", reason));
}

bool has_recurrence(const ExprRef& root) {
  bool found = false;
  ir::walk_distinct(root, [&](const ir::Expr& e) { found |= codegen::is_recurrence(e); });
  return found;
}

Result<Prefix> recurrence_of(const ExprRef& node) {
  const codegen::LinearStep step = codegen::step_of(*node);
  if (has_recurrence(step.a) || has_recurrence(step.b))
    return fail(Code::not_yet, "a recurrence over the results of another: give each a kernel");
  return Prefix{step.along, step.reverse, false, true, node};
}

}  // namespace

Result<Prefix> prefix_of(codegen::Interner& indices, const ExprRef& reduction) {
  if (codegen::is_recurrence(*reduction)) return recurrence_of(reduction);
  const ir::Reducer reducer = reduction->reducer;
  if (reducer == ir::Reducer::kArgMax || reducer == ir::Reducer::kArgMin)
    return fail(Code::not_yet, "family `scan` keeps no positions of running extrema");
  if (reduction->binders.size() != 1) return no_scan(Code::illegal_knobs, "it reduces several indices");
  if (reduction->args.size() < 2) return no_scan(Code::illegal_knobs, "it has no condition such as `j <= n`");
  const int binder = reduction->binders.front();
  std::vector<ExprRef> conditions;
  split_conjunction(reduction->args[1], conditions);
  std::optional<End> end;
  ExprRef rest;
  for (const ExprRef& condition : conditions) {
    const auto found = end_of(indices, condition, binder);
    if (found && end) return no_scan(Code::not_yet, "it has two ends (a window)");
    if (found) {
      end = found;
    } else {
      rest = rest ? indices.node(Op::kAnd, ir::ValueKind::kBool, {rest, condition}) : condition;
    }
  }
  if (!end) return no_scan(Code::illegal_knobs, "no condition compares its index with one of the result's");
  const int64_t extent = indices.index(binder).extent;
  if (indices.index(end->along).extent != extent)
    return no_scan(Code::not_yet, "the two indices have different extents");
  const ExprRef& body = reduction->args[0];
  if (has_recurrence(body)) return fail(Code::not_yet, "a prefix over the results of a recurrence: give each a kernel");
  if (codegen::depends_on(body, end->along) || (rest && codegen::depends_on(rest, end->along)))
    return no_scan(Code::illegal_knobs, "its terms depend on its end");

  // Counting a binder that runs against `along` from the other end makes both run alike.
  Prefix out;
  out.along = end->along;
  const bool flipped = end->a == end->b;
  const int64_t gap = !flipped ? end->offset : end->a > 0 ? end->offset + extent - 1 : end->offset - (extent - 1);
  out.reverse = end->b > 0;
  if (gap != 0 && gap != 1) return no_scan(Code::not_yet, "it ends elsewhere than at its index or one before");
  out.exclusive = gap == 1;
  const ExprRef along = indices.index_node(end->along);
  const ExprRef place =
      flipped ? indices.node(Op::kSub, ir::ValueKind::kInt, {indices.integer(extent - 1), along}) : along;
  ir::Expr elements = *reduction;
  elements.binders.clear();
  elements.integer = out.exclusive ? 1 : 0;
  elements.args = {indices.substitute(body, {{binder, place}})};
  if (rest) elements.args.push_back(indices.substitute(rest, {{binder, place}}));
  const int around = indices.set_source(indices.source_of(*reduction));
  out.elements = indices.intern(std::move(elements));
  indices.set_source(around);
  return out;
}

}  // namespace solstice::families::scan
