#include "families/reduction/online.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace solstice::families::reduction {
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

// Without casts that keep every value: a real to f64, an integer to i64. (Of others the sums here and there differ.)
const ExprRef& without_widening(const ExprRef& e) {
  if (e->op != Op::kCast) return e;
  const ExprRef& of = e->args[0];
  const bool widens = (of->kind == ir::ValueKind::kReal && e->dtype == DType::kF64) ||
                      (of->kind == ir::ValueKind::kInt && e->dtype == DType::kI64);
  return widens ? without_widening(of) : e;
}

bool same_values(const ExprRef& a, const ExprRef& b) { return without_widening(a) == without_widening(b); }

// The m of select(is_finite(m), m, 0), which keeps a row of nothing but -Inf from being NaN; else `e`.
const ExprRef& guarded(const ExprRef& e) {
  const bool guard = e->op == Op::kSelect && e->args[0]->op == Op::kIsFinite && e->args[0]->args[0] == e->args[1] &&
                     e->args[2]->op == Op::kReal && e->args[2]->real == 0;
  return guard ? e->args[1] : e;
}

// The maximum of all x of the row: no exponent x - m is above 0, of the row or of a part of it around the part's own.
// Around anything else a part's exponentials may pass all numbers where the row's do not.
bool bounds(const ExprRef& center, const ExprRef& x) {
  const ExprRef& m = guarded(center);
  return m->op == Op::kReduce && m->reducer == Reducer::kMax && m->args.size() == 1 && same_values(m->args[0], x);
}

// e = x - m, with m a row's value that uses results and x one that uses none.
bool is_distance(const Shape& shape, const ExprRef& e) {
  return e->op == Op::kSub && results_in(e->args[0]).empty() && !results_in(e->args[1]).empty() &&
         !shape.along_row(e->args[1]);
}

// The one factor exp(x - m) of a product, where m is the maximum of x.
std::optional<ExprRef> exponential_of(const Shape& shape, const ExprRef& term) {
  if (term->op == Op::kMul) {
    const bool left = results_in(term->args[0]).empty(), right = results_in(term->args[1]).empty();
    if (left == right) return std::nullopt;
    return exponential_of(shape, left ? term->args[1] : term->args[0]);
  }
  if (term->op != Op::kExp || !is_distance(shape, term->args[0])) return std::nullopt;
  const ExprRef& distance = term->args[0];
  return bounds(distance->args[1], distance->args[0]) ? std::optional(term) : std::nullopt;
}

// The m of (x - m)^2, where m is the mean of x: a constant share of its sum.
std::optional<ExprRef> squares_center(const Shape& shape, const ExprRef& term) {
  if (term->op != Op::kMul || term->args[0] != term->args[1] || !is_distance(shape, term->args[0])) return std::nullopt;
  const ExprRef& center = term->args[0]->args[1];
  const ExprRef& mean = without_casts(center);
  if (mean->op != Op::kDiv || mean->args[0]->op != Op::kReduce || !mean->args[1]->args.empty()) return std::nullopt;
  const ExprRef& sum = mean->args[0];
  const bool of_same =
      sum->reducer == Reducer::kSum && sum->args.size() == 1 && same_values(sum->args[0], term->args[0]->args[0]);
  return of_same ? std::optional(center) : std::nullopt;
}

Result<Corrected> corrected(const Shape& shape, const ExprRef& reduction) {
  if (reduction->reducer == Reducer::kSum && reduction->args.size() == 1) {
    if (const auto e = exponential_of(shape, reduction->args[0]))
      return Corrected{reduction, Correction::kExponential, (*e)->args[0]->args[1], nullptr};
    if (const auto center = squares_center(shape, reduction->args[0]))
      return Corrected{reduction, Correction::kSquares, *center, without_casts(*center)->args[0]};
  }
  return fail(
      Code::illegal_knobs,
      fmt::format(
          "a {} that needs another reduction's result is neither a sum of exp(x - max of x) nor of (x - mean of "
          "x)^2: it needs a second exchange",
          ir::name_of(reduction->reducer)));
}

}  // namespace

Result<OnlineReductions> online_reductions_of(const Shape& shape, const Phases& phases) {
  OnlineReductions out;
  for (size_t k = 0; k < phases.sweeps.size(); ++k) {
    for (const ExprRef& r : phases.sweeps[k].reductions) {
      if (is_ranked(r->reducer))
        return fail(Code::illegal_knobs, "an exchange has no room for a value with its index (argmax, argmin)");
      if (k == 0) {
        out.first.push_back(r);
        continue;
      }
      if (k > 1) return fail(Code::illegal_knobs, "three nested reductions need one more exchange");
      SOLSTICE_TRY(Corrected second, corrected(shape, r));
      out.second.push_back(std::move(second));
    }
  }
  return out;
}

}  // namespace solstice::families::reduction
