#include "families/scan/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "codegen/recurrence.h"
#include "ir/walk_distinct.h"

namespace solstice::families::scan {
namespace {

using ir::ExprRef;
using ir::Op;

// Replaces the prefixes in right sides by their elements.
class Extractor {
 public:
  explicit Extractor(Shape& shape) : shape_(shape), indices_(shape.nest.flat.indices) {}

  Result<ExprRef> rewrite(const ExprRef& root) {
    if (const auto found = memo_.find(root.get()); found != memo_.end()) return found->second;
    SOLSTICE_TRY(ExprRef out, codegen::is_recurrence(*root) || (root->op == Op::kReduce && compares(*root))
                                  ? extract(root)
                                  : descend(root));
    memo_.emplace(root.get(), out);
    return out;
  }

 private:
  // A reduction whose condition says something of a free index is no serial one.
  bool compares(const ir::Expr& reduction) const {
    const std::vector<int>& free = shape_.nest.order;
    return reduction.args.size() > 1 &&
           std::any_of(free.begin(), free.end(), [&](int id) { return codegen::depends_on(reduction.args[1], id); });
  }

  // A scan runs once for an element of the nest, not once for each point of a reduction around it.
  bool is_of_a_reduction(const ir::ExprRef& elements) const {
    std::set<int> bound(shape_.nest.order.begin(), shape_.nest.order.end());
    bool out = false;
    ir::walk_distinct(elements, [&](const ir::Expr& e) { bound.insert(e.binders.begin(), e.binders.end()); });
    ir::walk_distinct(elements, [&](const ir::Expr& e) { out |= e.op == Op::kIndex && !bound.contains(e.id); });
    return out;
  }

  Result<ExprRef> extract(const ExprRef& root) {
    SOLSTICE_TRY(const Prefix prefix, prefix_of(indices_, root));
    if (is_of_a_reduction(prefix.elements))
      return fail(Code::not_yet, "a reduction over the results of a scan: give each a kernel");
    const bool first = shape_.prefixes.empty();
    if (!first && prefix.along != shape_.along)
      return fail(Code::not_yet, "the kernel's prefixes run along different indices");
    if (!first && prefix.reverse != shape_.reverse)
      return fail(Code::not_yet, "the kernel's prefixes run in both directions");
    shape_.along = prefix.along;
    shape_.reverse = prefix.reverse;
    const auto same = [&](const Prefix& p) { return p.elements == prefix.elements; };
    if (std::none_of(shape_.prefixes.begin(), shape_.prefixes.end(), same)) shape_.prefixes.push_back(prefix);
    return prefix.elements;
  }

  Result<ExprRef> descend(const ExprRef& root) {
    ir::Expr copy = *root;
    for (ExprRef& arg : copy.args) {
      SOLSTICE_TRY(arg, rewrite(arg));
    }
    return indices_.intern(std::move(copy));
  }

  Shape& shape_;
  codegen::Interner& indices_;
  std::map<const ir::Expr*, ExprRef> memo_;
};

// Elements that read the last state of a recurrence, each of its own: several would each take all steps.
Status check_last_states(const ir::Program& program, const Shape& shape) {
  for (const codegen::FlatEquation& equation : shape.nest.flat.equations) {
    if (equation.steps < 0) continue;
    std::set<int> own;
    ir::walk_distinct(equation.rhs, [&](const ir::Expr& e) {
      if (!codegen::is_recurrence(e)) return;
      for (const ExprRef& arg : e.args)
        ir::walk_distinct(arg, [&](const ir::Expr& part) {
          if (part.op == Op::kIndex) own.insert(part.id);
        });
    });
    for (const int id : shape.nest.order) {
      if (shape.nest.flat.indices.index(id).extent == 1 || own.contains(id)) continue;
      return fail(Code::not_yet, fmt::format("several elements of `{}` read one last state: give the reader a kernel",
                                             program.tensor(equation.target).name));
    }
  }
  return success();
}

}  // namespace

Result<Shape> shape_of(const ir::Program& program, const ir::Kernel& kernel) {
  SOLSTICE_TRY(const codegen::FlatKernel flat, codegen::flatten(program, kernel, {}, codegen::Recurrences::kLinear));
  std::vector<elementwise::Nest> nests = elementwise::group_equations(program, flat);
  if (nests.size() != 1)
    return fail(Code::not_yet,
                fmt::format("kernel `{}` writes boxes of different extents; write one kernel for each", kernel.name));
  Shape out;
  out.nest = std::move(nests.front());
  Extractor extractor(out);
  for (codegen::FlatEquation& equation : out.nest.flat.equations) {
    SOLSTICE_TRY(equation.rhs, extractor.rewrite(equation.rhs));
  }
  std::unordered_set<const ir::Expr*> seen;
  for (const codegen::FlatEquation& equation : out.nest.flat.equations) {
    bool ranks = false;
    ir::walk_distinct(equation.rhs, seen, [&](const ir::Expr& e) { ranks |= e.op == Op::kRank; });
    if (ranks)
      return fail(Code::not_yet, fmt::format("`{}` ranks elements; family `scan` does not sort yet",
                                             program.tensor(equation.target).name));
  }
  if (out.prefixes.empty()) {
    return fail(Code::illegal_knobs,
                fmt::format("kernel `{}` has no prefix reduction, such as `sum[j where j <= n](...)`, and no linear "
                            "recurrence, such as `h[n] = a[n] * h[n-1 else 0] + b[n]`",
                            kernel.name));
  }
  SOLSTICE_CHECK(check_last_states(program, out));
  SOLSTICE_CHECK(elementwise::check_serial(program, out.nest.flat, "scan"));
  return out;
}

}  // namespace solstice::families::scan
