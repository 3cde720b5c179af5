#include "ir/work.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ir/live.h"

namespace solstice::ir {
namespace {

bool is_constant(const ExprRef& e) {
  bool constant = true;
  walk(e, [&](const Expr& node) { constant = constant && node.op != Op::kRead && node.op != Op::kIndex; });
  return constant;
}

struct Cost {
  double simt = 0;
  double sfu = 0;
};

// Issue slots and special functions of one evaluation on a GPU with approximate exp2, log2, reciprocal and rsqrt
// instructions. Negation and absolute value are operand modifiers; erf is a polynomial and an exponential.
Cost cost_of(const Expr& e) {
  switch (e.op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax:
    case Op::kSelect:
    case Op::kLt:
    case Op::kLe:
    case Op::kEq:
    case Op::kNe:
    case Op::kGe:
    case Op::kGt:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
    case Op::kSign:
    case Op::kIsNan:
    case Op::kIsFinite:
    case Op::kCast:
      return {1, 0};
    case Op::kDiv:
      return {1, 0};  // by a reciprocal, which visit() counts
    case Op::kExp:
    case Op::kLog:
      return {1, 1};
    case Op::kExpm1:
    case Op::kLog1p:
    case Op::kSin:
    case Op::kCos:
      return {2, 1};
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kTanh:
      return {0, 1};
    case Op::kErf:
      return {6, 1};
    default:
      return {0, 0};
  }
}

// A whole power is multiplications; any other is exp2(y * log2(x)).
Cost power_cost(const Expr& e) {
  const Expr& exponent = *e.args[1];
  const double value = exponent.op == Op::kInt ? static_cast<double>(exponent.integer) : exponent.real;
  const bool literal = exponent.op == Op::kInt || exponent.op == Op::kReal;
  if (literal && value == std::floor(value) && std::abs(value) >= 1 && std::abs(value) <= 64) {
    return {std::ceil(std::log2(std::abs(value))), value < 0 ? 1.0 : 0.0};
  }
  if (literal && std::abs(value) == 0.5) return {0, 1};
  return {1, 2};
}

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15ULL ^ (h >> 29); }

uint64_t hash_of(const ExprRef& e) {
  uint64_t h = mix(static_cast<uint64_t>(e->op) + 1, static_cast<uint64_t>(e->id + 7));
  h = mix(h, static_cast<uint64_t>(e->integer) ^ std::hash<double>()(e->real));
  h = mix(h, static_cast<uint64_t>(e->reducer) * 31 + static_cast<uint64_t>(e->dtype) * 2 + (e->has_else ? 1 : 0));
  for (int binder : e->binders) h = mix(h, static_cast<uint64_t>(binder));
  for (const ExprRef& arg : e->args) h = mix(h, hash_of(arg));
  return h;
}

bool is_zero(const ExprRef& e) { return (e->op == Op::kReal && e->real == 0) || (e->op == Op::kInt && e->integer == 0); }

void flatten(const ExprRef& e, std::vector<ExprRef>& factors) {
  if (e->op == Op::kMul) {
    for (const ExprRef& arg : e->args) flatten(arg, factors);
  } else if (e->op == Op::kNeg) {
    flatten(e->args[0], factors);
  } else {
    factors.push_back(e);
  }
}

IndexSet united(const IndexSet& a, const IndexSet& b) {
  IndexSet out = a;
  out.insert(b.begin(), b.end());
  return out;
}

IndexSet without(const IndexSet& a, const IndexSet& b) {
  IndexSet out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

// Indices that address an operand themselves, not through the values of another tensor: of w[expert[m],n,k] n and k.
IndexSet direct_indices(const ExprRef& e) {
  if (e->op != Op::kRead) {
    IndexSet out;
    if (e->op == Op::kIndex) out.insert(e->id);
    for (const ExprRef& arg : e->args) out = united(out, direct_indices(arg));
    return out;
  }
  IndexSet out;
  for (const ExprRef& arg : e->args) {
    bool gathers = false;
    walk(arg, [&](const Expr& node) { gathers = gathers || node.op == Op::kRead; });
    if (!gathers) out = united(out, indices_of(arg));
  }
  return out;
}

// Indices of the result that a factor depends on: all of them, and those it is addressed by itself.
struct Operand {
  IndexSet all;
  IndexSet direct;
};

// Tensor cores need an index of the result that only A has, and one that only B has. An index that selects a slice of
// one operand by a gather (the expert of a token) does not make the operands share it.
bool is_contraction(const Operand& a, const Operand& b) { return !without(a.all, b.direct).empty() && !without(b.all, a.direct).empty(); }

// A product of several factors under a sum: the binary tree with the least multiply-adds. An index is summed as soon as
// no other factor has it. Sets of factors are bit masks.
class Factoring {
 public:
  Factoring(const std::vector<ExprRef>& factors, const IndexSet& binders, const Domain& domain)
      : domain_(domain), sets_(size_t{1} << factors.size()) {
    for (size_t set = 1; set < sets_.size(); ++set) describe(set, factors, binders);
    for (size_t set = 1; set < sets_.size(); ++set) split(set);
  }

  Work work() const {
    Work out;
    add(sets_.size() - 1, out);
    return out;
  }

 private:
  struct Set {
    IndexSet indices;  // of the partial product, its own sums done
    IndexSet direct;
    double cost = std::numeric_limits<double>::infinity();
    size_t part = 0;  // the best tree multiplies this subset with the rest; 0: a single factor
  };

  void describe(size_t set, const std::vector<ExprRef>& factors, const IndexSet& binders) {
    IndexSet in, direct, elsewhere;
    for (size_t i = 0; i < factors.size(); ++i) {
      const IndexSet own = indices_of(factors[i]);
      IndexSet& where = set >> i & 1 ? in : elsewhere;
      where = united(where, own);
      if (set >> i & 1) direct = united(direct, direct_indices(factors[i]));
    }
    const IndexSet summed = without(binders, elsewhere);
    sets_[set].indices = without(in, summed);
    sets_[set].direct = without(direct, summed);
    const bool single = (set & (set - 1)) == 0;
    if (single) sets_[set].cost = sets_[set].indices.size() < in.size() ? domain_.points(in) : 0;
  }

  double points(size_t a, size_t b) const { return domain_.points(united(sets_[a].indices, sets_[b].indices)); }

  void split(size_t set) {
    for (size_t part = (set - 1) & set; part > 0; part = (part - 1) & set) {
      const size_t rest = set ^ part;
      if (part < rest) continue;
      const double cost = sets_[part].cost + sets_[rest].cost + points(part, rest);
      if (cost < sets_[set].cost) sets_[set].cost = cost, sets_[set].part = part;
    }
  }

  void add(size_t set, Work& out) const {
    const size_t part = sets_[set].part;
    if (part == 0) {
      out.simt += sets_[set].cost;
      return;
    }
    const size_t rest = set ^ part;
    const auto operand = [&](size_t side) {
      const IndexSet summed = without(united(sets_[part].indices, sets_[rest].indices), sets_[set].indices);
      return Operand{without(sets_[side].indices, summed), without(sets_[side].direct, summed)};
    };
    (is_contraction(operand(part), operand(rest)) ? out.contraction : out.simt) += points(part, rest);
    add(part, out);
    add(rest, out);
  }

  const Domain& domain_;
  std::vector<Set> sets_;
};

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
  void add(const Cost& cost, double points) {
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
    Cost cost = e->op == Op::kPow ? power_cost(*e) : cost_of(*e);
    // One multiplication goes into the addition it feeds.
    const bool fused = (e->op == Op::kAdd || e->op == Op::kSub) && (e->args[0]->op == Op::kMul || e->args[1]->op == Op::kMul);
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
    out.work += Factoring(factors, binders, domain).work();
    for (const ExprRef& factor : factors) {
      const DType each = widest(factor);
      if (&factor == &factors[0] || size_of(each) > size_of(out.operands)) out.operands = each;
    }
  } else {
    IndexSet all;
    for (const ExprRef& factor : factors) all = united(all, indices_of(factor));
    out.work.simt += std::max<double>(1, static_cast<double>(factors.size()) - 1) * domain.points(all);
  }
}

void Counter::pair(const ExprRef& a, const ExprRef& b, const IndexSet& binders, const Domain& domain) {
  const double points = domain.points(united(indices_of(a), indices_of(b)));
  const auto operand = [&](const ExprRef& e) { return Operand{without(indices_of(e), binders), without(direct_indices(e), binders)}; };
  if (!is_contraction(operand(a), operand(b))) {
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
