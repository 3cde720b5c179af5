// A window over the results of windows is one window.
//
//   max[i<2](max[j<3](x[4*p+2*i+j]))  =  max[t<5](x[4*p+t])
//   mean[i<2](mean[j<2](x[4*p+2*i+j]))  =  mean[t<4](x[4*p+t])
//
// Proof. A reduction of equal reductions is the reduction over all pairs (i, j): for sums and products by
// associativity, for extrema too, for means because all inner means are of equally many points; so neither may have a
// `where`. Where i and j occur only as s*i + j in the indices of reads, the body depends on t = s*i + j alone. If the
// inner window is as long as the stride, the pairs are the numbers 0 .. s*I-1 each once, and sums, products and means
// keep their value. If it is longer, they are 0 .. s*(I-1)+J-1, some more than once, which only extrema do not notice.
// If it is shorter there are gaps, and nothing is merged. A read with `else` inside yields by t what it yielded by (i,
// j). An outer read with `else` is left alone: what lies past the inner result's border is not what lies past its
// input's (a mean over clipped windows has a `where`, and is left alone too).
#include <fmt/format.h>

#include <algorithm>

#include "ir/rewrite/edit.h"
#include "ir/rewrite/merge.h"
#include "ir/rewrite/rewrite.h"

namespace solstice::ir {
namespace {

bool composes(Reducer r) {
  return r == Reducer::kMax || r == Reducer::kMin || r == Reducer::kSum || r == Reducer::kProd || r == Reducer::kMean;
}

bool is_idempotent(Reducer r) { return r == Reducer::kMax || r == Reducer::kMin; }

// Merges pairs of an outer and an inner binder where that is the same reduction.
ExprRef merged_windows(Equation& equation, Reducer reducer, std::vector<int> outer, std::vector<int> inner,
                       ExprRef body) {
  for (size_t o = 0; o < outer.size(); ++o) {
    for (size_t i = 0; i < inner.size(); ++i) {
      const int64_t stride = stride_between({body}, outer[o], inner[i]);
      const int64_t length = index_of(equation, inner[i]).extent;
      if (stride == 0 || length < stride || (length > stride && !is_idempotent(reducer))) continue;
      Index index = index_of(equation, inner[i]);
      index.extent = stride * (index_of(equation, outer[o]).extent - 1) + length;
      index.dim.clear();
      const int merged = static_cast<int>(equation.indices.size());
      equation.indices.push_back(index);
      body = with_merged(body, outer[o], inner[i], merged);
      outer[o] = merged;
      inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  outer.insert(outer.end(), inner.begin(), inner.end());
  return make_reduce(reducer, outer, body);
}

// The reduction below `outer` that it may be composed with, in `equation`; null: none.
ExprRef inner_reduction(Equation& equation, const Definitions& definitions, const Expr& outer) {
  const ExprRef& body = outer.args[0];
  ExprRef inner;
  if (body->op == Op::kReduce) inner = body;
  if (body->op == Op::kRead && !body->has_else) {
    const Equation* definition = definitions.of(body->id);
    if (definition && definition->rhs->op == Op::kReduce) inner = instance(equation, *definition, *body);
  }
  return inner && inner->reducer == outer.reducer && inner->args.size() == 1 ? inner : nullptr;
}

std::optional<Rewritten> composed_windows(const Subject& subject, int id) {
  const Program& program = subject.program();
  if (program.equation(id).group >= 0) return std::nullopt;
  Equation equation = program.equation(id);
  const auto wanted = [](const Expr& e) { return composes(e.reducer) && e.args.size() == 1; };
  for (const ExprRef& outer : reductions_in(equation.rhs, wanted)) {
    const ExprRef inner = inner_reduction(equation, subject.definitions(), *outer);
    if (!inner) continue;
    const ExprRef composed = merged_windows(equation, outer->reducer, outer->binders, inner->binders, inner->args[0]);
    equation.rhs = replaced(equation.rhs, outer.get(), composed);
    Rewritten out{program, fmt::format("the {0} over {1} and the {0} below it become one", name_of(outer->reducer),
                                       names_of(equation, outer->binders))};
    out.program.equations[static_cast<size_t>(id)] = std::move(equation);
    return out;
  }
  return std::nullopt;
}

}  // namespace

extern const Rewrite solstice_rewrites_compose_windows;
const Rewrite solstice_rewrites_compose_windows = {
    .name = "compose_windows",
    .help = "a window over windows (a mean of means, a maximum of maxima) becomes one window",
    .at = composed_windows,
};

}  // namespace solstice::ir
