#include "codegen/expand.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "codegen/same_shape.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::Reducer;
using ir::ValueKind;

std::vector<ExprRef> variances_in(const std::vector<ExprRef*>& roots) {
  std::vector<ExprRef> out;
  std::set<const ir::Expr*> seen;
  const auto visit = [&](const auto& self, const ExprRef& e) -> void {
    if (!seen.insert(e.get()).second) return;
    if (e->op == Op::kReduce && e->reducer == Reducer::kVar) out.push_back(e);
    for (const ExprRef& arg : e->args) self(self, arg);
  };
  for (const ExprRef* root : roots) visit(visit, *root);
  return out;
}

class Expander {
 public:
  Expander(Interner& interner, std::vector<ExprRef> variances) : interner_(interner), variances_(std::move(variances)) {}

  ExprRef expand(const ExprRef& root) {
    if (const auto found = memo_.find(root.get()); found != memo_.end()) return found->second;
    ir::Expr copy = *root;
    for (ExprRef& arg : copy.args) arg = expand(arg);
    ExprRef out = interner_.intern(std::move(copy));
    if (out->op == Op::kReduce) out = expand_reduce(out, has_variance(root));
    memo_.emplace(root.get(), out);
    return out;
  }

 private:
  ExprRef expand_reduce(const ExprRef& e, bool corrected) {
    switch (e->reducer) {
      case Reducer::kMean: return corrected ? corrected_mean(*e) : mean(*e);
      case Reducer::kVar: return variance(*e);
      case Reducer::kLogSumExp: return log_sum_exp(*e);
      default: return e;
    }
  }

  ExprRef real(Op op, std::vector<ExprRef> args) { return interner_.node(op, ValueKind::kReal, std::move(args)); }

  ExprRef reduce(const ir::Expr& like, Reducer reducer, ExprRef body) {
    ir::Expr e = like;
    e.reducer = reducer;
    e.kind = body->kind;
    e.args[0] = std::move(body);
    return interner_.intern(std::move(e));
  }

  // The same reduction over binders of its own, so that it may stand inside `e`.
  ir::Expr renamed(const ir::Expr& e) {
    std::map<int, ExprRef> fresh;
    ir::Expr out = e;
    for (int& binder : out.binders) {
      const ir::Index old = interner_.index(binder);
      const int id = interner_.add_index(old.name, old.extent);
      fresh[binder] = interner_.index_node(id);
      binder = id;
    }
    for (ExprRef& arg : out.args) arg = interner_.substitute(arg, fresh);
    return out;
  }

  ExprRef count(const ir::Expr& e) {
    if (e.args.size() > 1) return reduce(e, Reducer::kSum, interner_.real(1.0));
    double points = 1;
    for (const int binder : e.binders) points *= static_cast<double>(interner_.index(binder).extent);
    return interner_.real(points);
  }

  ExprRef mean(const ir::Expr& e) {
    return real(Op::kDiv, {reduce(e, Reducer::kSum, real_body(e.args[0])), count(e)});
  }

  // An integer sum must not overflow: mean and var are of reals.
  ExprRef real_body(const ExprRef& body) {
    return body->kind == ValueKind::kReal ? body : real(Op::kMul, {body, interner_.real(1.0)});
  }

  // Whether this mean is of data that a variance of the kernel passes over too.
  bool has_variance(const ExprRef& e) {
    if (e->reducer != Reducer::kMean) return false;
    ir::Expr as_variance = *e;
    as_variance.reducer = Reducer::kVar;
    const ExprRef wanted = interner_.intern(std::move(as_variance));
    return std::any_of(variances_.begin(), variances_.end(), [&](const ExprRef& v) { return same_but_for_indices(interner_, wanted, v); });
  }

  ir::Expr distances(const ir::Expr& e) {
    ir::Expr out = e;
    out.args[0] = real(Op::kSub, {e.args[0], mean(renamed(e))});
    return out;
  }

  // An infinite mean stays: its distances are NaN.
  ExprRef corrected_mean(const ir::Expr& e) {
    const ExprRef first = mean(e);
    const ExprRef finite = interner_.node(Op::kIsFinite, ValueKind::kBool, {first});
    return real(Op::kSelect, {finite, real(Op::kAdd, {first, mean(distances(e))}), first});
  }

  ExprRef variance(const ir::Expr& e) {
    const ir::Expr distance = distances(e);
    ir::Expr squares = distance;
    squares.args[0] = real(Op::kMul, {distance.args[0], distance.args[0]});
    const ExprRef correction = mean(distance);
    const ExprRef rest = real(Op::kSub, {mean(squares), real(Op::kMul, {correction, correction})});
    return real(Op::kMax, {rest, interner_.real(0.0)});
  }

  ExprRef log_sum_exp(const ir::Expr& e) {
    ir::Expr inner = renamed(e);
    const ExprRef top = reduce(inner, Reducer::kMax, inner.args[0]);
    const ExprRef finite = interner_.node(Op::kIsFinite, ValueKind::kBool, {top});
    const ExprRef shift = real(Op::kSelect, {finite, top, interner_.real(0.0)});
    const ExprRef terms = real(Op::kExp, {real(Op::kSub, {e.args[0], shift})});
    return real(Op::kAdd, {real(Op::kLog, {reduce(e, Reducer::kSum, terms)}), shift});
  }

  Interner& interner_;
  std::vector<ExprRef> variances_;
  std::unordered_map<const ir::Expr*, ExprRef> memo_;
};

}  // namespace

void expand_reducers(Interner& interner, const std::vector<ExprRef*>& roots) {
  Expander expander(interner, variances_in(roots));
  for (ExprRef* root : roots) *root = expander.expand(*root);
}

}  // namespace solstice::codegen
