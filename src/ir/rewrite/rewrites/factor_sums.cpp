// A sum of sums of products: the factors that the outer sum does not touch come out of it.
//
//   sum[n](sum[k](x[m,k] * w[n,k]) + b[n])  =  sum[k](x[m,k] * sum[n](w[n,k])) + sum[n](b[n])
//
// A row sum of a product of matrices becomes a matrix-vector product; the mean of a convolution over its positions one
// product with the sums of its input's windows.
//
// Proof. Finite sums of finite terms may be exchanged, a factor that does not depend on an index comes out of the sum
// over it, and sums and means are linear. `where` conditions: a term is summed at the points that satisfy all
// conditions of both sums. Those that mention an index of the new inner sum move there, where they select the same
// points; the others stay outside. The outer sum may then visit points that had no term: the inner sum is empty there,
// 0, and adds nothing, as the factors outside are then restricted to literals and reads of what is finite for every
// finite input (FiniteValues: not 1/x, rsqrt, log, exp). For the same reason a divisor comes out of a sum with `where`
// only if it is a literal other than 0; a sum without one has a term, which the divisor divides before and after. A
// mean without `where` is the sum divided by the number of points, so it is linear too and the mean of what does not
// depend on its indices is that itself; a mean with `where` is left alone, as its count is not constant. Casts, selects
// and reads with `else` are single factors. Conditions or indices that read tensors are left alone: what they would
// read at new points is not known. So is what else may stop at run time, and differences with a statistic, x - mean(x):
// true over the reals, but their sums taken apart lose all digits.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/condition.h"
#include "ir/rewrite/merge.h"
#include "ir/rewrite/rewrite.h"
#include "ir/rewrite/term_split.h"

namespace solstice::ir {
namespace {

bool is_linear_sum(const Expr& e) {
  return e.op == Op::kReduce && (e.reducer == Reducer::kSum || e.reducer == Reducer::kMean);
}

// Writes a divided term under the outer reduction.
class ExchangeWriter {
 public:
  // A local may come before equation `place`. `several`: other terms are added to those written.
  ExchangeWriter(Program& program, int& place, const Expr& outer, bool several)
      : program_(program), place_(place), outer_(outer), several_(several) {}

  ExprRef write(const TermSplit& split) {
    ExprRef value = inner(split);
    // A sum that does not vary with the result (of a bias) would be taken for each of its elements.
    const bool invariant = several_ && indices_of(value).empty();
    if ((!split.outside_binders.empty() || invariant) && value->op == Op::kReduce) value = part(split, value);
    std::vector<ExprRef> factors = split.outside;
    if (!is_one(value)) factors.push_back(value);
    value = product(factors);
    if (!split.outside_binders.empty()) {
      value = make_reduce(Reducer::kSum, split.outside_binders, value, conjunction(split.outside_conditions));
    }
    for (const ExprRef& divisor : split.divisors) value = make(Op::kDiv, {value, divisor});
    return value;
  }

 private:
  Equation& equation() { return program_.equations[static_cast<size_t>(place_)]; }

  ExprRef inner(const TermSplit& split) {
    ExprRef value = product(split.inside);
    if (outer_.reducer == Reducer::kMean) return inner_mean(split, value);
    std::vector<int> binders;
    std::vector<ExprRef> extents;
    for (const int b : split.inside_binders) {
      const bool used =
          depends(value, {b}) || std::any_of(split.inside_conditions.begin(), split.inside_conditions.end(),
                                             [&](const ExprRef& c) { return depends(c, {b}); });
      if (used || !split.inside_conditions.empty()) {
        binders.push_back(b);
      } else {
        extents.push_back(extent_of(equation(), b));
      }
    }
    if (!binders.empty()) value = make_reduce(Reducer::kSum, binders, value, conjunction(split.inside_conditions));
    if (extents.empty()) return value;
    if (!is_one(value)) extents.insert(extents.begin(), value);
    return product(extents);
  }

  // The inner reduction as a local. Indices that it needs only as stride*p + r (the windows of a convolution) become
  // one.
  ExprRef part(const TermSplit& split, ExprRef value) {
    std::map<int, ExprRef> merged;
    const IndexSet free = indices_of(value);
    for (const int p : free) {
      for (const int r : free) {
        const int64_t stride = split.inside_conditions.empty() && p != r && !merged.count(p) && !merged.count(r)
                                   ? stride_between({value}, p, r)
                                   : 0;
        const int64_t rows = index_of(equation(), p).extent;
        const int64_t extent = stride * (rows - 1) + index_of(equation(), r).extent;
        if (stride == 0 || extent >= rows * index_of(equation(), r).extent) continue;
        const int fresh = static_cast<int>(equation().indices.size());
        equation().indices.push_back({index_of(equation(), p).name, extent, ""});
        value = with_merged(value, p, r, fresh);
        merged[p] = merged[r] = nullptr;
        merged[fresh] = to_expr(Affine{0, {{p, stride}, {r, 1}}});
      }
    }
    const ExprRef read = hoisted(program_, place_, value, "part");
    return changed(read, [&](const ExprRef& e) -> ExprRef {
      return e->op == Op::kIndex && merged.count(e->id) ? merged[e->id] : nullptr;
    });
  }

  ExprRef inner_mean(const TermSplit& split, ExprRef value) {
    std::vector<int> sums;
    for (const int b : split.inner_binders) {
      if (split.inside_binders.count(b)) sums.push_back(b);
    }
    if (!sums.empty()) value = make_reduce(Reducer::kSum, sums, value, conjunction(split.inside_conditions));
    // A mean's own condition would change what it divides by.
    if (sums.empty() && !split.inside_conditions.empty())
      value = make(Op::kSelect, {conjunction(split.inside_conditions), value, make_int(0)});
    std::vector<int> means;
    for (const int b : outer_.binders) {
      if (depends(value, {b})) means.push_back(b);
    }
    return means.empty() ? value : make_reduce(Reducer::kMean, means, value);
  }

  Program& program_;
  int& place_;
  const Expr& outer_;
  bool several_;
};

// A sum or mean that may be exchanged with those below it.
bool is_candidate(const Expr& e) {
  const bool conditional_mean = e.reducer == Reducer::kMean && e.args.size() > 1;
  const bool values = e.args.size() > 1 && has_read(e.args[1]);
  return is_linear_sum(e) && e.kind == ValueKind::kReal && !conditional_mean && !values;
}

// x - mean(x): summed term by term it loses its digits.
bool subtracts_statistic(const Program& program, const Definitions& definitions, const std::vector<Term>& terms,
                         const IndexSet& binders) {
  const auto reduces = [&](const ExprRef& root) {
    bool found = false;
    walk(root, [&](const Expr& e) { found = found || e.op == Op::kReduce; });
    return found;
  };
  const auto is_statistic = [&](const ExprRef& factor) {
    bool found = reduces(factor);
    walk(factor, [&](const Expr& e) {
      if (e.op != Op::kRead) return;
      for (const int writer : definitions.writers(e.id)) found = found || reduces(program.equation(writer).rhs);
    });
    return found && !depends(factor, binders);
  };
  return terms.size() > 1 && std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
           return std::any_of(term.factors.begin(), term.factors.end(), is_statistic);
         });
}

std::optional<Rewritten> factored(const Subject& subject, int id, const ExprRef& outer) {
  const Program& program = subject.program();
  Equation equation = program.equation(id);
  const auto terms = terms_of(equation, outer->args[0], &subject.definitions());
  const IndexSet binders(outer->binders.begin(), outer->binders.end());
  if (!terms || subtracts_statistic(program, subject.definitions(), *terms, binders)) return std::nullopt;
  FiniteValues finite(program, subject.definitions());
  std::vector<TermSplit> splits;
  bool exchanges = false;
  for (const Term& term : *terms) {
    splits.emplace_back(equation, *outer, term, finite);
    if (!splits.back().admits()) return std::nullopt;
    exchanges = exchanges || splits.back().exchanges();
  }
  if (!exchanges) return std::nullopt;
  Rewritten out{program, fmt::format("the {} over {} goes inside the products it adds up", name_of(outer->reducer),
                                     names_of(equation, outer->binders))};
  int place = id;
  out.program.equations[static_cast<size_t>(id)] = equation;
  ExchangeWriter writer(out.program, place, *outer, splits.size() > 1);
  std::vector<Term> sums;
  for (size_t i = 0; i < splits.size(); ++i) sums.push_back({(*terms)[i].negative, {writer.write(splits[i])}, {}});
  Equation& changed_equation = out.program.equations[static_cast<size_t>(place)];
  changed_equation.rhs = replaced(changed_equation.rhs, outer.get(), sum_of(sums));
  return out;
}

std::optional<Rewritten> factored_sum(const Subject& subject, int id) {
  if (subject.program().equation(id).group >= 0) return std::nullopt;
  for (const ExprRef& outer : reductions_in(subject.program().equation(id).rhs, is_candidate)) {
    if (auto out = factored(subject, id, outer)) return out;
  }
  return std::nullopt;
}

}  // namespace

extern const Rewrite solstice_rewrites_factor_sums;
const Rewrite solstice_rewrites_factor_sums = {
    .name = "factor_sums",
    .help =
        "a sum or mean over a product's result becomes a product with sums of its operands (a row sum: matrix times "
        "vector)",
    .at = factored_sum,
};

}  // namespace solstice::ir
