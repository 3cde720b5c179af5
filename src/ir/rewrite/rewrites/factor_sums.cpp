// A sum of sums of products: the factors that the outer sum does not touch come out of it.
//
//   sum[n](sum[k](x[m,k] * w[n,k]) + b[n])  =  sum[k](x[m,k] * sum[n](w[n,k])) + sum[n](b[n])
//
// A row sum of a product of matrices becomes a matrix-vector product; the mean of a convolution over its positions one
// product with the sums of its input's windows.
//
// Proof. Finite sums of finite terms may be exchanged, a factor that does not depend on an index comes out of the sum over
// it, and sums and means are linear. `where` conditions: a term is summed at the points that satisfy all conditions of both
// sums. Those that mention an index of the new inner sum move there, where they select the same points; the others stay
// outside. The outer sum may then visit points that had no term: the inner sum is empty there, 0, and adds nothing, as the
// factors outside are then restricted to reads and literals, which are finite. A mean without `where` is the sum divided by
// the number of points, so it is linear too and the mean of what does not depend on its indices is that itself; a mean
// with `where` is left alone, as its count is not constant. Casts, selects and reads with `else` are single factors.
// Conditions or indices that read tensors are left alone: what they would read at new points is not known. So are
// differences with a statistic, x - mean(x): true over the reals, but their sums taken apart lose all digits.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/condition.h"
#include "ir/rewrite/merge.h"
#include "ir/rewrite/rewrite.h"
#include "ir/rewrite/terms.h"

namespace solstice::ir {
namespace {

bool is_linear_sum(const Expr& e) { return e.op == Op::kReduce && (e.reducer == Reducer::kSum || e.reducer == Reducer::kMean); }

bool is_plain(const ExprRef& e) { return e->op == Op::kRead || e->op == Op::kReal || e->op == Op::kInt; }

// One term under the outer reduction.
class Exchange {
 public:
  Exchange(Program& program, int& place, const Expr& outer) : program_(program), place_(place), outer_(outer) {
    add_conjuncts(outer.args.size() > 1 ? outer.args[1] : nullptr, conditions_);
  }

  // The reduction of the term, or null where it cannot be exchanged.
  ExprRef reduced(const Term& term) {
    split(term);
    if (!admits()) return nullptr;
    choose(true);
    if (!useful()) choose(false);
    exchanged_ = exchanged_ || useful() || (!inner_sum_ && (!outside_.empty() || !term_divisors_.empty() || inside_.empty()));
    ExprRef value = inner();
    if (!outside_binders_.empty() && value->op == Op::kReduce) value = part(value);
    std::vector<ExprRef> factors = outside_;
    if (!is_one(value)) factors.push_back(value);
    value = product(factors);
    if (!outside_binders_.empty()) value = make_reduce(Reducer::kSum, outside_binders_, value, conjunction(outside_conditions_));
    for (const ExprRef& divisor : term_divisors_) value = make(Op::kDiv, {value, divisor});
    return value;
  }

  bool exchanged() const { return exchanged_; }

 private:
  Equation& equation() { return program_.equations[static_cast<size_t>(place_)]; }
  static bool is_one(const ExprRef& e) { return e->op == Op::kInt && e->integer == 1 && e->id < 0; }

  // Factors of the term and of the first sum among them; divisors that the reduction does not touch stay outside.
  void split(const Term& term) {
    factors_.clear();
    term_divisors_.clear();
    all_conditions_ = conditions_;
    binders_ = {outer_.binders.begin(), outer_.binders.end()};
    inner_sum_ = nullptr;
    inner_binders_.clear();
    for (const ExprRef& factor : term.factors) {
      if (is_one(factor)) continue;
      const bool sum = !inner_sum_ && factor->op == Op::kReduce && factor->reducer == Reducer::kSum && depends(factor, binders_);
      if (!sum) {
        factors_.push_back(factor);
        continue;
      }
      inner_sum_ = factor;
      inner_binders_ = factor->binders;
      add_conjuncts(factor->args.size() > 1 ? factor->args[1] : nullptr, all_conditions_);
      const auto parts = terms_of(equation(), factor->args[0], nullptr, 1);
      if (parts && parts->size() == 1 && !(*parts)[0].negative && (*parts)[0].divisors.empty()) {
        factors_.insert(factors_.end(), (*parts)[0].factors.begin(), (*parts)[0].factors.end());
      } else {
        factors_.push_back(factor->args[0]);
      }
    }
    for (const ExprRef& divisor : term.divisors) {
      if (depends(divisor, binders_)) {
        factors_.push_back(make(Op::kDiv, {make_int(1), divisor}));
      } else {
        term_divisors_.push_back(divisor);
      }
    }
  }

  bool admits() const {
    for (const ExprRef& condition : all_conditions_) {
      if (has_read(condition)) return false;
    }
    const auto fine = [](const ExprRef& e) { return !gathers(e) && !has_infinity(e); };
    return std::all_of(factors_.begin(), factors_.end(), fine);
  }

  // What stays outside of the new inner reduction: factors free of the outer's indices, and the indices they need. A
  // condition that moves inside ties indices to the outer's (`u == 2*i+r-1`); with `follow` the factors that depend on the
  // widest of them (`x[n,c,i,j]`) move with it, so that a condition is not left to stand for a factor.
  void choose(bool follow) {
    IndexSet pulled = binders_;
    for (bool more = true; more;) {
      divide(pulled);
      more = false;
      for (const ExprRef& condition : inside_conditions_) {
        const int widest = follow ? widest_inner(condition) : -1;
        more = more || (widest >= 0 && pulled.insert(widest).second);
      }
    }
  }

  int widest_inner(const ExprRef& condition) {
    int out = -1;
    for (const int b : inner_binders_) {
      if (!depends(condition, {b})) continue;
      if (out < 0 || index_of(equation(), b).extent > index_of(equation(), out).extent) out = b;
    }
    return out;
  }

  void divide(const IndexSet& pulled) {
    outside_.clear();
    inside_.clear();
    outside_conditions_.clear();
    inside_conditions_.clear();
    outside_binders_.clear();
    IndexSet needed;
    const auto need = [&](const ExprRef& e) {
      const IndexSet own = indices_of(e);
      needed.insert(own.begin(), own.end());
    };
    for (const ExprRef& factor : factors_) {
      const bool out = !depends(factor, pulled) && (all_conditions_.empty() || is_plain(factor));
      (out ? outside_ : inside_).push_back(factor);
      if (out) need(factor);
    }
    for (const ExprRef& condition : all_conditions_) {
      const bool in = depends(condition, pulled) || outside_.empty();
      (in ? inside_conditions_ : outside_conditions_).push_back(condition);
      if (!in) need(condition);
    }
    inside_binders_ = binders_;
    for (const int b : inner_binders_) {
      if (needed.count(b)) outside_binders_.push_back(b);
      if (!needed.count(b)) inside_binders_.insert(b);
    }
    if (!outside_binders_.empty()) return;
    inside_conditions_.insert(inside_conditions_.end(), outside_conditions_.begin(), outside_conditions_.end());
    outside_conditions_.clear();
  }

  // A factor came out, and what stays is more than a mask.
  bool useful() const { return !outside_.empty() && !outside_binders_.empty() && (!inside_.empty() || inside_conditions_.empty()); }

  ExprRef inner() {
    ExprRef value = product(inside_);
    if (outer_.reducer == Reducer::kMean) return inner_mean(value);
    std::vector<int> binders;
    std::vector<ExprRef> extents;
    for (const int b : inside_binders_) {
      const bool used = depends(value, {b}) || std::any_of(inside_conditions_.begin(), inside_conditions_.end(),
                                                           [&](const ExprRef& c) { return depends(c, {b}); });
      if (used || !inside_conditions_.empty()) {
        binders.push_back(b);
      } else {
        extents.push_back(extent_of(equation(), b));
      }
    }
    if (!binders.empty()) value = make_reduce(Reducer::kSum, binders, value, conjunction(inside_conditions_));
    if (extents.empty()) return value;
    if (!is_one(value)) extents.insert(extents.begin(), value);
    return product(extents);
  }

  // The inner reduction as a local. Indices that it needs only as stride*p + r (the windows of a convolution) become one.
  ExprRef part(ExprRef value) {
    std::map<int, ExprRef> merged;
    const IndexSet free = indices_of(value);
    for (const int p : free) {
      for (const int r : free) {
        const int64_t stride =
            inside_conditions_.empty() && p != r && !merged.count(p) && !merged.count(r) ? stride_between({value}, p, r) : 0;
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
    return changed(read, [&](const ExprRef& e) -> ExprRef { return e->op == Op::kIndex && merged.count(e->id) ? merged[e->id] : nullptr; });
  }

  ExprRef inner_mean(ExprRef value) {
    std::vector<int> sums;
    for (const int b : inner_binders_) {
      if (inside_binders_.count(b)) sums.push_back(b);
    }
    if (!sums.empty()) value = make_reduce(Reducer::kSum, sums, value, conjunction(inside_conditions_));
    // A mean's own condition would change what it divides by.
    if (sums.empty() && !inside_conditions_.empty()) value = make(Op::kSelect, {conjunction(inside_conditions_), value, make_int(0)});
    std::vector<int> means;
    for (const int b : outer_.binders) {
      if (depends(value, {b})) means.push_back(b);
    }
    return means.empty() ? value : make_reduce(Reducer::kMean, means, value);
  }

  Program& program_;
  int& place_;
  const Expr& outer_;
  std::vector<ExprRef> conditions_, all_conditions_, factors_, term_divisors_, outside_, inside_, outside_conditions_, inside_conditions_;
  IndexSet binders_, inside_binders_;
  std::vector<int> inner_binders_, outside_binders_;
  ExprRef inner_sum_;
  bool exchanged_ = false;
};

void linear_sums(const ExprRef& e, std::vector<ExprRef>& out) {
  const bool conditional_mean = e->op == Op::kReduce && e->reducer == Reducer::kMean && e->args.size() > 1;
  const bool values = e->op == Op::kReduce && e->args.size() > 1 && has_read(e->args[1]);
  if (is_linear_sum(*e) && e->kind == ValueKind::kReal && !conditional_mean && !values) out.push_back(e);
  for (const ExprRef& a : e->args) linear_sums(a, out);
}

// x - mean(x): summed term by term it loses its digits.
bool subtracts_statistic(const Program& program, const Definitions& definitions, const std::vector<Term>& terms, const IndexSet& binders) {
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

std::optional<Rewritten> factored(const Program& program, int id, const ExprRef& outer) {
  Rewritten out{program, ""};
  int place = id;
  const Definitions definitions(program);
  const auto terms = terms_of(out.program.equations[static_cast<size_t>(place)], outer->args[0], &definitions);
  if (!terms || subtracts_statistic(program, definitions, *terms, {outer->binders.begin(), outer->binders.end()})) return std::nullopt;
  Exchange exchange(out.program, place, *outer);
  std::vector<Term> sums;
  for (const Term& term : *terms) {
    const ExprRef value = exchange.reduced(term);
    if (!value) return std::nullopt;
    sums.push_back({term.negative, {value}, {}});
  }
  if (!exchange.exchanged()) return std::nullopt;
  Equation& equation = out.program.equations[static_cast<size_t>(place)];
  equation.rhs = replaced(equation.rhs, outer.get(), sum_of(sums));
  out.description = fmt::format("the {} over {} goes inside the products it adds up", name_of(outer->reducer),
                                names_of(program.equation(id), outer->binders));
  return out;
}

std::optional<Rewritten> factored_sum(const Program& program, int id) {
  if (program.equation(id).group >= 0) return std::nullopt;
  std::vector<ExprRef> sums;
  linear_sums(program.equation(id).rhs, sums);
  for (const ExprRef& outer : sums) {
    if (auto out = factored(program, id, outer)) return out;
  }
  return std::nullopt;
}

}  // namespace

extern const Rewrite solstice_rewrites_factor_sums;
const Rewrite solstice_rewrites_factor_sums = {
    .name = "factor_sums",
    .help = "a sum or mean over a product's result becomes a product with sums of its operands (a row sum: matrix times vector)",
    .at = factored_sum,
};

}  // namespace solstice::ir
