#include "families/rows/local.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace solstice::families::rows {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::Reducer;

bool is_ranked(Reducer r) { return r == Reducer::kArgMax || r == Reducer::kArgMin; }

// The results of reductions that `e` uses, outermost ones.
void add_results(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op == Op::kReduce) {
    if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
    return;
  }
  for (const ExprRef& arg : e->args) add_results(arg, out);
}

std::vector<ExprRef> results_in(const ExprRef& e) {
  std::vector<ExprRef> out;
  add_results(e, out);
  return out;
}

const ExprRef& without_casts(const ExprRef& e) { return e->op == Op::kCast ? without_casts(e->args[0]) : e; }

// e = x - m, with m a row's value that uses results and x one that uses none.
bool is_distance(const Shape& shape, const ExprRef& e) {
  return e->op == Op::kSub && results_in(e->args[0]).empty() && !results_in(e->args[1]).empty() && !shape.along_row(e->args[1]);
}

// The one factor exp(x - m) of a product, where m is made of maxima.
std::optional<ExprRef> exponential_of(const Shape& shape, const ExprRef& term) {
  if (term->op == Op::kMul) {
    const bool left = results_in(term->args[0]).empty(), right = results_in(term->args[1]).empty();
    if (left == right) return std::nullopt;
    return exponential_of(shape, left ? term->args[1] : term->args[0]);
  }
  if (term->op != Op::kExp || !is_distance(shape, term->args[0])) return std::nullopt;
  const ExprRef& center = term->args[0]->args[1];
  const std::vector<ExprRef> results = results_in(center);
  const bool maxima = std::all_of(results.begin(), results.end(), [](const ExprRef& r) { return r->reducer == Reducer::kMax; });
  return maxima ? std::optional(term) : std::nullopt;
}

// The m of (x - m)^2, where m is the mean of x: a constant share of its sum.
std::optional<ExprRef> squares_center(const Shape& shape, const ExprRef& term) {
  if (term->op != Op::kMul || term->args[0] != term->args[1] || !is_distance(shape, term->args[0])) return std::nullopt;
  const ExprRef& center = term->args[0]->args[1];
  const ExprRef& mean = without_casts(center);
  if (mean->op != Op::kDiv || mean->args[0]->op != Op::kReduce || !mean->args[1]->args.empty()) return std::nullopt;
  const ExprRef& sum = mean->args[0];
  const bool of_same =
      sum->reducer == Reducer::kSum && sum->args.size() == 1 && without_casts(sum->args[0]) == without_casts(term->args[0]->args[0]);
  return of_same ? std::optional(center) : std::nullopt;
}

Result<Corrected> corrected(const Shape& shape, const ExprRef& reduction) {
  if (reduction->reducer == Reducer::kSum && reduction->args.size() == 1) {
    if (const auto e = exponential_of(shape, reduction->args[0]))
      return Corrected{reduction, Correction::kExponential, (*e)->args[0]->args[1], nullptr};
    if (const auto center = squares_center(shape, reduction->args[0]))
      return Corrected{reduction, Correction::kSquares, *center, without_casts(*center)->args[0]};
  }
  return fail(Code::illegal_knobs,
              fmt::format("`team`: a {} that needs another reduction's result is no sum of exp(x - max) or (x - mean)^2; drop it",
                          ir::name_of(reduction->reducer)));
}

}  // namespace

Result<Findings> findings_of(const Shape& shape, const Phases& phases) {
  Findings out;
  for (size_t k = 0; k < phases.sweeps.size(); ++k) {
    for (const ExprRef& r : phases.sweeps[k].reductions) {
      if (is_ranked(r->reducer)) return fail(Code::illegal_knobs, "`team`: an offer between blocks holds no value with its place; drop it");
      if (k == 0) {
        out.first.push_back(r);
        continue;
      }
      if (k > 1) return fail(Code::illegal_knobs, "`team`: a reduction over another one over a third; drop it");
      SOLSTICE_TRY(Corrected second, corrected(shape, r));
      out.second.push_back(std::move(second));
    }
  }
  return out;
}

}  // namespace solstice::families::rows
