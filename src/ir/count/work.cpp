#include "ir/count/work.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/analysis/reads.h"
#include "ir/count/factoring.h"
#include "ir/count/op_cost.h"
#include "ir/equal.h"

namespace solstice::ir {
namespace {

bool is_constant(const ExprRef& e) {
  bool constant = true;
  walk(e, [&](const Expr& node) { constant = constant && node.op != Op::kRead && node.op != Op::kIndex; });
  return constant;
}

uint64_t hash_with(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ULL ^ (h >> 29); }

uint64_t hash_of(const ExprRef& e) {
  uint64_t h = hash_with(static_cast<uint64_t>(e->op) + 1, static_cast<uint64_t>(e->id + 7));
  h = hash_with(h, static_cast<uint64_t>(e->integer) ^ std::hash<double>()(e->real));
  h = hash_with(h,
                static_cast<uint64_t>(e->reducer) * 31 + static_cast<uint64_t>(e->dtype) * 2 + (e->has_else ? 1 : 0));
  for (int binder : e->binders) h = hash_with(h, static_cast<uint64_t>(binder));
  for (const ExprRef& arg : e->args) h = hash_with(h, hash_of(arg));
  return h;
}

void flatten(const ExprRef& e, std::vector<ExprRef>& factors) {
  if (e->op == Op::kMul) {
    for (const ExprRef& arg : e->args) flatten(arg, factors);
  } else if (e->op == Op::kNeg) {
    flatten(e->args[0], factors);
  } else {
    factors.push_back(e);
  }
}

class Counter {
 public:
  explicit Counter(const std::vector<DType>& dtypes) : dtypes_(dtypes) {}

  void visit(const ExprRef& e, const Domain& domain);
  EquationWork out;

 private:
  void reduce(const Expr& e, const Domain& domain);
  void sum_of(const ExprRef& body, const IndexSet& binders, const Domain& domain);
  void product(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain);
  void pair(const ExprRef& a, const ExprRef& b, const IndexSet& binders, const Domain& domain);
  DType widest(const ExprRef& e) const;
  void add(const OpCost& cost, double points) {
    out.work.simt += cost.simt * points;
    out.work.sfu += cost.sfu * points;
  }

  const std::vector<DType>& dtypes_;
  std::set<uint64_t> seen_;
};

DType Counter::widest(const ExprRef& e) const {
  DType dtype = DType::kBool;
  bool any = false;
  walk(e, [&](const Expr& node) {
    if (node.op != Op::kRead) return;
    const DType each = dtypes_[static_cast<size_t>(node.id)];
    if (is_float(each) && (!any || size_of(each) > size_of(dtype))) {
      dtype = each;
      any = true;
    }
  });
  return any ? dtype : DType::kF32;
}

void Counter::visit(const ExprRef& e, const Domain& domain) {
  if (is_constant(e) || e->op == Op::kIndex) return;
  if (!seen_.insert(hash_of(e)).second) return;
  if (e->op == Op::kRead) {
    if (e->has_else) visit(e->args.back(), domain);
    return;
  }
  if (e->op == Op::kReduce || e->op == Op::kRank) {
    reduce(*e, domain);
    return;
  }
  const double points = domain.points(indices_of(e));
  if (e->kind == ValueKind::kInt && e->op != Op::kSelect) {
    out.work.integer += points;
  } else {
    OpCost cost = cost_of(*e);
    // One multiplication goes into the addition it feeds.
    const bool fused =
        (e->op == Op::kAdd || e->op == Op::kSub) && (e->args[0]->op == Op::kMul || e->args[1]->op == Op::kMul);
    if (fused) cost.simt -= 1;
    add(cost, points);
    // One reciprocal for each divisor, however many are divided by it.
    if (e->op == Op::kDiv && !is_constant(e->args[1])) add({0, 1}, domain.points(indices_of(e->args[1])));
  }
  for (size_t i = 0; i < e->args.size(); ++i) visit(e->args[i], inside(*e, i, domain));
}

void Counter::reduce(const Expr& e, const Domain& domain) {
  const IndexSet binders(e.binders.begin(), e.binders.end());
  const Domain inner = inside(e, 0, domain);
  const ExprRef& body = e.args[0];
  if (e.op == Op::kReduce && (e.reducer == Reducer::kSum || e.reducer == Reducer::kMean)) {
    sum_of(body, binders, inner);
    return;
  }
  visit(body, inner);
  const double points = inner.points(united(indices_of(body), binders));
  if (e.op == Op::kRank) {
    // A comparison sort's comparisons.
    add({std::log2(std::max(2.0, static_cast<double>(domain.extent(e.binders[0])))), 0}, points);
  } else if (e.reducer == Reducer::kVar) {
    add({2, 0}, points);
  } else if (e.reducer == Reducer::kLogSumExp) {
    add({3, 1}, points);
  } else {
    add({1, 0}, points);
  }
}

void Counter::sum_of(const ExprRef& body, const IndexSet& binders, const Domain& domain) {
  if (body->op == Op::kSelect && is_zero(body->args[2])) {
    visit(body->args[0], domain);
    sum_of(body->args[1], binders, domain.with(body->args[0]));
    return;
  }
  std::vector<ExprRef> all, factors;
  flatten(body, all);
  for (const ExprRef& factor : all) {
    const IndexSet own = indices_of(factor);
    const bool bound = std::any_of(own.begin(), own.end(), [&](int i) { return binders.count(i) != 0; });
    if (bound) {
      factors.push_back(factor);
    } else {
      visit(factor, domain);  // comes out of the sum
    }
  }
  for (const ExprRef& factor : factors) visit(factor, domain);
  product(factors, binders, domain);
}

void Counter::product(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain) {
  if (factors.size() == 2) {
    pair(factors[0], factors[1], binders, domain);
  } else if (factors.size() > 2 && factors.size() <= 6) {
    out.work += product_work(factors, binders, domain);
    for (const ExprRef& factor : factors) {
      const DType each = widest(factor);
      if (&factor == &factors[0] || size_of(each) > size_of(out.operands)) out.operands = each;
    }
  } else {
    IndexSet all;
    for (const ExprRef& factor : factors) all = united(all, indices_of(factor));
    out.work.simt += std::max<double>(1, static_cast<double>(factors.size()) - 1) * points_within(all, binders, domain);
  }
}

void Counter::pair(const ExprRef& a, const ExprRef& b, const IndexSet& binders, const Domain& domain) {
  const double points = points_within(united(indices_of(a), indices_of(b)), binders, domain);
  if (!is_contraction(operand_of(a, binders, domain), operand_of(b, binders, domain))) {
    out.work.simt += points;
    return;
  }
  out.work.contraction += points;
  const DType left = widest(a);
  const DType right = widest(b);
  out.operands = size_of(left) >= size_of(right) ? left : right;
}

}  // namespace

EquationWork work_of(const Equation& equation, const Domain& domain, const std::vector<DType>& dtypes) {
  Counter counter(dtypes);
  counter.visit(equation.rhs, domain);
  counter.out.exact = domain.exact();
  return counter.out;
}

}  // namespace solstice::ir
