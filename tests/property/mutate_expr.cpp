#include "property/mutate_expr.h"

#include <utility>

namespace solstice::lang::testing {
namespace {

template <typename T>
const T* find(const std::vector<std::pair<T, T>>& table, const T& key) {
  for (const auto& [from, to] : table) {
    if (from == key) return &to;
  }
  return nullptr;
}

class ExprMutator {
 public:
  explicit ExprMutator(const Tensors& tensors) : tensors_(tensors) {}

  void mutate(const ExprRef& e, const EachExpr& each) const {
    own(*e, each);
    for (size_t a = 0; a < e->args.size(); ++a) {
      inside(
          *e, e->args[a], [a](Expr& copy, ExprRef changed) { copy.args[a] = std::move(changed); }, each);
    }
    inside(
        *e, e->otherwise, [](Expr& copy, ExprRef changed) { copy.otherwise = std::move(changed); }, each);
    inside(
        *e, e->where, [](Expr& copy, ExprRef changed) { copy.where = std::move(changed); }, each);
    for (size_t b = 0; b < e->binders.size(); ++b) {
      inside(
          *e, e->binders[b].extent, [b](Expr& copy, ExprRef changed) { copy.binders[b].extent = std::move(changed); },
          each);
    }
  }

 private:
  template <typename Put>
  void inside(const Expr& e, const ExprRef& child, Put put, const EachExpr& each) const {
    if (!child) return;
    mutate(child, [&](const std::string& kind, ExprRef changed) {
      auto copy = std::make_shared<Expr>(e);
      put(*copy, std::move(changed));
      each(kind, copy);
    });
  }

  template <typename Change>
  static void changed(const Expr& e, const std::string& kind, const EachExpr& each, Change change) {
    auto copy = std::make_shared<Expr>(e);
    change(*copy);
    each(kind, copy);
  }

  void own(const Expr& e, const EachExpr& each) const {
    switch (e.kind) {
      case ExprKind::kInt:
        each("integer", integer(e.integer + 1));
        if (e.integer > 0) each("integer", integer(e.integer - 1));
        return;
      case ExprKind::kNumber:
        return each("number", number(std::stod(e.text) * 1.1));
      case ExprKind::kName:
        if (e.text == "inf") each("number", integer(0));
        return;
      case ExprKind::kNeg:
      case ExprKind::kNot:
        return each("dropped sign", e.args[0]);
      case ExprKind::kBinary:
        return of_binary(e, each);
      case ExprKind::kCompare:
        return of_compare(e, each);
      case ExprKind::kApply:
        return of_function(e, each);
      case ExprKind::kRead:
        return of_read(e, each);
      case ExprKind::kReduce:
      case ExprKind::kRank:
        return of_reduction(e, each);
    }
  }

  static void of_binary(const Expr& e, const EachExpr& each) {
    using B = BinaryOp;
    static const std::vector<std::pair<B, B>> others = {
        {B::kAdd, B::kSub},      {B::kSub, B::kAdd},      {B::kMul, B::kAdd}, {B::kDiv, B::kMul}, {B::kPow, B::kMul},
        {B::kFloorDiv, B::kMod}, {B::kMod, B::kFloorDiv}, {B::kAnd, B::kOr},  {B::kOr, B::kAnd}};
    changed(e, "operator", each, [&](Expr& c) { c.binary = *find(others, e.binary); });
    each("dropped operand", e.args[0]);
    each("dropped operand", e.args[1]);
    const bool commutes = e.binary == B::kAdd || e.binary == B::kMul || e.binary == B::kAnd || e.binary == B::kOr;
    if (!commutes) changed(e, "order of operands", each, [](Expr& c) { std::swap(c.args[0], c.args[1]); });
  }

  static void of_compare(const Expr& e, const EachExpr& each) {
    using C = CompareOp;
    static const std::vector<std::pair<C, C>> others = {{C::kLt, C::kLe}, {C::kLe, C::kLt}, {C::kEq, C::kLe},
                                                        {C::kNe, C::kEq}, {C::kGe, C::kGt}, {C::kGt, C::kGe}};
    for (size_t i = 0; i < e.compares.size(); ++i) {
      changed(e, "comparison", each, [&](Expr& c) { c.compares[i] = *find(others, e.compares[i]); });
    }
  }

  static void of_function(const Expr& e, const EachExpr& each) {
    static const std::vector<std::pair<std::string, std::string>> others = {
        {"relu", "abs"},  {"gelu", "silu"},  {"silu", "gelu"},  {"sigmoid", "tanh"}, {"tanh", "sigmoid"},
        {"exp", "expm1"}, {"log", "log1p"},  {"rsqrt", "sqrt"}, {"sqrt", "exp"},     {"min", "max"},
        {"max", "min"},   {"floor", "ceil"}, {"clamp", "max"},  {"select", "min"},   {"abs", "relu"},
        {"erf", "tanh"},  {"sin", "cos"},    {"cos", "sin"}};
    if (const std::string* other = find(others, e.text))
      changed(e, "function", each, [&](Expr& c) { c.text = *other; });
    if (e.args.size() == 1) each("dropped function", e.args[0]);
    const bool symmetric = e.text == "min" || e.text == "max";
    for (size_t i = symmetric ? e.args.size() : 1; i < e.args.size(); ++i) {
      changed(e, "order of operands", each, [&](Expr& c) { std::swap(c.args[i - 1], c.args[i]); });
    }
  }

  void of_read(const Expr& e, const EachExpr& each) const {
    for (size_t i = 1; i < e.args.size(); ++i) {
      if (same(e.args[i - 1], e.args[i])) continue;
      changed(e, "order of indices", each, [&](Expr& c) { std::swap(c.args[i - 1], c.args[i]); });
    }
    if (e.otherwise) changed(e, "dropped else", each, [](Expr& c) { c.otherwise = nullptr; });
    const auto peers = tensors_.find(e.args.size());
    if (peers == tensors_.end()) return;
    const auto& names = peers->second;
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string& next = names[(i + 1) % names.size()];
      if (names[i] == e.text && next != e.text) changed(e, "other tensor", each, [&](Expr& c) { c.text = next; });
    }
  }

  static void of_reduction(const Expr& e, const EachExpr& each) {
    static const std::vector<std::pair<std::string, std::string>> others = {
        {"sum", "mean"},      {"mean", "sum"},      {"max", "min"},      {"min", "max"}, {"var", "mean"},
        {"prod", "sum"},      {"logsumexp", "max"}, {"any", "all"},      {"all", "any"}, {"argmax", "argmin"},
        {"argmin", "argmax"}, {"argtop", "argbot"}, {"argbot", "argtop"}};
    changed(e, "reducer", each, [&](Expr& c) { c.text = *find(others, e.text); });
    if (e.where) changed(e, "dropped where", each, [](Expr& c) { c.where = nullptr; });
    for (size_t i = 1; i < e.binders.size(); ++i) {
      changed(e, "order of binders", each, [&](Expr& c) { std::swap(c.binders[i - 1], c.binders[i]); });
    }
  }

  const Tensors& tensors_;
};

}  // namespace

void mutate(const ExprRef& e, const Tensors& tensors, const EachExpr& each) { ExprMutator(tensors).mutate(e, each); }

}  // namespace solstice::lang::testing
