#include "ir/normal/terms/pool.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

namespace solstice::ir::normal {
namespace {

constexpr int kMostDepth = 3000;  // the passes recurse

uint64_t identity(const Term& t) {
  uint64_t h = mixed(static_cast<uint64_t>(t.kind), static_cast<uint64_t>(t.op));
  h = mixed(h, static_cast<uint64_t>(t.reducer));
  h = mixed(h, static_cast<uint64_t>(t.number.num));
  h = mixed(h, static_cast<uint64_t>(t.number.den));
  h = mixed(h, std::bit_cast<uint64_t>(t.real));
  h = mixed(h, static_cast<uint64_t>(t.id));
  for (const int b : t.binders) h = mixed(h, static_cast<uint64_t>(b));
  for (const TermId a : t.args) h = mixed(h, static_cast<uint64_t>(a));
  for (const Rational& w : t.weights) h = mixed(mixed(h, static_cast<uint64_t>(w.num)), static_cast<uint64_t>(w.den));
  return h;
}

// Arguments in the order of their ids: sums, products and guards are sets of terms.
void sort_weighted(std::vector<TermId>& args, std::vector<Rational>& weights) {
  std::vector<size_t> order(args.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(args[a], weights[a].num, weights[a].den) < std::tuple(args[b], weights[b].num, weights[b].den);
  });
  const std::vector<TermId> old_args = args;
  const std::vector<Rational> old_weights = weights;
  for (size_t i = 0; i < order.size(); ++i) args[i] = old_args[order[i]], weights[i] = old_weights[order[i]];
}

std::vector<ValueKind> kinds_of(const Pool& pool, const std::vector<TermId>& args) {
  std::vector<ValueKind> out;
  for (const TermId a : args) out.push_back(pool.at(a).value);
  return out;
}

ValueKind widest(const std::vector<ValueKind>& kinds) {
  ValueKind out = ValueKind::kInt;
  for (const ValueKind k : kinds) out = std::max(out, k);
  return out;
}

ValueKind op_value(const Pool& pool, const Term& t) {
  if (t.op == Op::kCast) return kind_of(t.dtype);
  // The builders of expressions know the kinds of operations; only the operands' kinds matter.
  std::vector<ExprRef> args;
  for (const TermId a : t.args) {
    auto e = std::make_shared<Expr>();
    e->op = Op::kRead;
    e->kind = pool.at(a).value;
    args.push_back(e);
  }
  return make(t.op, std::move(args))->kind;
}

ValueKind value_of_reduce(const Pool& pool, const Term& t) {
  switch (t.reducer) {
    case Reducer::kSum:
    case Reducer::kProd:
    case Reducer::kMax:
    case Reducer::kMin:
      return widest({pool.at(t.args[0]).value});
    case Reducer::kAny:
    case Reducer::kAll:
      return ValueKind::kBool;
    case Reducer::kMean:
    case Reducer::kVar:
    case Reducer::kLogSumExp:
      return ValueKind::kReal;
    default:
      return ValueKind::kInt;
  }
}

bool all_integers(const std::vector<Rational>& weights, int64_t least) {
  return std::all_of(weights.begin(), weights.end(),
                     [&](const Rational& w) { return w.is_integer() && w.num >= least; });
}

ValueKind value_kind(const Pool& pool, const Term& t) {
  switch (t.kind) {
    case Kind::kConst:
      return t.number.is_integer() ? ValueKind::kInt : ValueKind::kReal;
    case Kind::kReal:
      return ValueKind::kReal;
    case Kind::kVar:
    case Kind::kGuard:
      return ValueKind::kInt;
    case Kind::kRead:
      return t.has_else ? std::max(pool.symbol(t.id).value, pool.at(t.args.back()).value) : pool.symbol(t.id).value;
    case Kind::kOp:
      return op_value(pool, t);
    case Kind::kReduce:
      return value_of_reduce(pool, t);
    case Kind::kSum:
      return all_integers(t.weights, INT64_MIN) ? widest(kinds_of(pool, t.args)) : ValueKind::kReal;
    case Kind::kProduct:
      return all_integers(t.weights, 0) ? widest(kinds_of(pool, t.args)) : ValueKind::kReal;
  }
  return ValueKind::kReal;
}

}  // namespace

uint64_t mixed(uint64_t seed, uint64_t value) {
  value += 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return seed ^ value ^ (value >> 31);
}

bool is_commutative(const Term& t) {
  return t.kind == Kind::kSum || t.kind == Kind::kProduct || t.kind == Kind::kGuard ||
         (t.kind == Kind::kOp && (t.op == Op::kMin || t.op == Op::kMax || t.op == Op::kOr || t.op == Op::kAnd));
}

uint64_t head_of(const Pool& pool, const Term& t) {
  uint64_t h = mixed(static_cast<uint64_t>(t.kind), static_cast<uint64_t>(t.op));
  h = mixed(h, t.kind == Kind::kReduce ? static_cast<uint64_t>(t.reducer) + 1 : 0);
  h = mixed(h, t.op == Op::kCast ? static_cast<uint64_t>(t.dtype) + 1 : 0);
  h = mixed(h, static_cast<uint64_t>(t.number.num));
  h = mixed(h, static_cast<uint64_t>(t.number.den));
  h = mixed(h, std::bit_cast<uint64_t>(t.real));
  if (t.kind == Kind::kRead) h = mixed(h, std::hash<std::string>()(pool.symbol(t.id).name));
  for (const int b : t.binders) h = mixed(h, static_cast<uint64_t>(pool.var(b).extent));
  return mixed(h, t.args.size());
}

bool Term::operator==(const Term& o) const {
  return kind == o.kind && op == o.op && reducer == o.reducer && dtype == o.dtype && has_else == o.has_else &&
         number == o.number && std::bit_cast<uint64_t>(real) == std::bit_cast<uint64_t>(o.real) && id == o.id &&
         binders == o.binders && args == o.args && weights == o.weights;
}

Pool::Pool(const Limits& limits)
    : limits_(limits), end_(Clock::now() + std::chrono::microseconds(limits.microseconds)) {
  constant(0);
}

void Pool::derive(Term& t) const {
  t.value = value_kind(*this, t);
  std::vector<uint64_t> shapes;
  for (size_t i = 0; i < t.args.size(); ++i) {
    const Term& a = at(t.args[i]);
    t.depth = std::max(t.depth, a.depth + 1);
    t.level = std::max(t.level, a.level);
    t.free.insert(t.free.end(), a.free.begin(), a.free.end());
    uint64_t h = a.shape;
    if (!t.weights.empty())
      h = mixed(mixed(h, static_cast<uint64_t>(t.weights[i].num)), static_cast<uint64_t>(t.weights[i].den));
    shapes.push_back(h);
  }
  if (t.kind == Kind::kVar) t.free.push_back(t.id);
  if (t.kind == Kind::kReduce) ++t.level;
  std::sort(t.free.begin(), t.free.end());
  t.free.erase(std::unique(t.free.begin(), t.free.end()), t.free.end());
  for (const int b : t.binders) {
    const auto found = std::lower_bound(t.free.begin(), t.free.end(), b);
    if (found != t.free.end() && *found == b) t.free.erase(found);
  }
  if (is_commutative(t)) std::sort(shapes.begin(), shapes.end());
  if (t.kind == Kind::kReduce && shapes.size() > 1) std::sort(shapes.begin() + 1, shapes.end());
  t.shape = head_of(*this, t);
  if (t.kind == Kind::kVar)
    t.shape = mixed(t.shape,
                    static_cast<uint64_t>(var(t.id).extent) + (var(t.id).root ? static_cast<uint64_t>(t.id) << 40 : 0));
  for (const uint64_t s : shapes) t.shape = mixed(t.shape, s);
}

TermId Pool::intern(Term term) {
  if (exceeded_) return 0;
  const uint64_t key = identity(term);
  const auto [first, last] = known_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    if (at(it->second) == term) return it->second;
  }
  derive(term);
  if (terms_.size() >= limits_.terms) exceeded_ = "terms";
  if (term.depth > kMostDepth) exceeded_ = "depth";
  if (terms_.size() % 64 == 0 && Clock::now() > end_) exceeded_ = "time";
  terms_.push_back(std::move(term));
  const auto id = static_cast<TermId>(terms_.size()) - 1;
  known_.emplace(key, id);
  return exceeded_ ? 0 : id;
}

void Pool::spend(size_t steps) {
  constexpr size_t kStepsATerm = 40;
  spent_ += steps;
  if (spent_ > kStepsATerm * limits_.terms) exceeded_ = "work";
  if (Clock::now() > end_) exceeded_ = "time";
}

TermId Pool::constant(Rational value) {
  Term t;
  t.number = value;
  return intern(std::move(t));
}

TermId Pool::real(double value) {
  if (const auto exact = Rational::of(value)) return constant(*exact);
  Term t;
  t.kind = Kind::kReal;
  t.real = value;
  return intern(std::move(t));
}

TermId Pool::boolean(bool value) { return constant(value ? 1 : 0); }

TermId Pool::variable(int id) {
  Term t;
  t.kind = Kind::kVar;
  t.id = id;
  return intern(std::move(t));
}

TermId Pool::read(int symbol_id, std::vector<TermId> indices) {
  Term t;
  t.kind = Kind::kRead;
  t.id = symbol_id;
  t.args = std::move(indices);
  return intern(std::move(t));
}

TermId Pool::read_else(int symbol_id, std::vector<TermId> indices, TermId otherwise) {
  Term t;
  t.kind = Kind::kRead;
  t.id = symbol_id;
  t.args = std::move(indices);
  t.args.push_back(otherwise);
  t.has_else = true;
  return intern(std::move(t));
}

TermId Pool::op(Op o, std::vector<TermId> args, DType dtype) {
  Term t;
  t.kind = Kind::kOp;
  t.op = o;
  t.args = std::move(args);
  t.dtype = dtype;
  if (is_commutative(t)) std::sort(t.args.begin(), t.args.end());
  return intern(std::move(t));
}

TermId Pool::reduce(Reducer reducer, std::vector<int> binders, std::vector<TermId> args) {
  Term t;
  t.kind = Kind::kReduce;
  t.reducer = reducer;
  t.binders = std::move(binders);
  t.args = std::move(args);
  const bool ranking = reducer == Reducer::kArgTop || reducer == Reducer::kArgBot;
  if (!ranking && t.args.size() > 2) {
    std::sort(t.args.begin() + 1, t.args.end());
    t.args.erase(std::unique(t.args.begin() + 1, t.args.end()), t.args.end());
  }
  return intern(std::move(t));
}

TermId Pool::weighted(Kind kind, std::vector<TermId> args, std::vector<Rational> weights) {
  Term t;
  t.kind = kind;
  t.args = std::move(args);
  t.weights = std::move(weights);
  sort_weighted(t.args, t.weights);
  return intern(std::move(t));
}

TermId Pool::sum(std::vector<TermId> args, std::vector<Rational> weights) {
  return weighted(Kind::kSum, std::move(args), std::move(weights));
}

TermId Pool::product(std::vector<TermId> args, std::vector<Rational> weights) {
  return weighted(Kind::kProduct, std::move(args), std::move(weights));
}

TermId Pool::guard(std::vector<TermId> conditions) {
  Term t;
  t.kind = Kind::kGuard;
  std::sort(conditions.begin(), conditions.end());
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  t.args = std::move(conditions);
  return intern(std::move(t));
}

TermId Pool::with_args(TermId id, std::vector<TermId> args) {
  if (at(id).args == args) return id;
  Term t = at(id);
  switch (t.kind) {
    case Kind::kSum:
      return sum(std::move(args), std::move(t.weights));
    case Kind::kProduct:
      return product(std::move(args), std::move(t.weights));
    case Kind::kGuard:
      return guard(std::move(args));
    case Kind::kReduce:
      return reduce(t.reducer, std::move(t.binders), std::move(args));
    case Kind::kOp:
      return op(t.op, std::move(args), t.dtype);
    default:
      break;
  }
  if (!t.has_else) return read(t.id, std::move(args));
  const TermId otherwise = args.back();
  args.pop_back();
  return read_else(t.id, std::move(args), otherwise);
}

int Pool::fresh(const std::string& name, int64_t extent) {
  variables_.push_back({name, extent, false, false});
  return static_cast<int>(variables_.size()) - 1;
}

int Pool::root_variable(size_t place, int64_t extent) {
  const auto [it, made] = roots_.emplace(std::make_pair(place, extent), static_cast<int>(variables_.size()));
  if (made) variables_.push_back({"i" + std::to_string(place), extent, true, false});
  return it->second;
}

int Pool::bound_variable(int level, size_t place, int64_t extent) {
  const auto [it, made] = bound_.emplace(std::make_tuple(level, place, extent), static_cast<int>(variables_.size()));
  if (made) variables_.push_back({"b" + std::to_string(level) + "_" + std::to_string(place), extent, false, true});
  return it->second;
}

int Pool::symbol(Symbol symbol) {
  const auto [it, made] = symbol_ids_.emplace(symbol.name, static_cast<int>(symbols_.size()));
  if (made) symbols_.push_back(std::move(symbol));
  return it->second;
}

bool Pool::depends(TermId t, int variable) const {
  const auto& free = at(t).free;
  return std::binary_search(free.begin(), free.end(), variable);
}

bool Pool::depends(TermId t, const std::vector<int>& variables) const {
  return std::any_of(variables.begin(), variables.end(), [&](int v) { return depends(t, v); });
}

TermId Pool::substitute(TermId t, const Substitution& values) {
  if (values.empty()) return t;
  std::unordered_map<TermId, TermId> done;
  return substituted(t, values, done);
}

TermId Pool::substituted(TermId id, const Substitution& values, std::unordered_map<TermId, TermId>& done) {
  const Term& t = at(id);
  if (exceeded_) return 0;
  if (t.kind == Kind::kVar) {
    const auto found = values.find(t.id);
    return found == values.end() ? id : found->second;
  }
  const bool touched = std::any_of(values.begin(), values.end(), [&](const auto& v) { return depends(id, v.first); });
  if (!touched) return id;
  if (const auto found = done.find(id); found != done.end()) return found->second;
  std::vector<TermId> args;
  for (const TermId a : t.args) args.push_back(substituted(a, values, done));
  const TermId out = with_args(id, std::move(args));
  done.emplace(id, out);
  return out;
}

}  // namespace solstice::ir::normal
