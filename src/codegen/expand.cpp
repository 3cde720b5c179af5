#include "codegen/expand.h"

#include <map>

#include "ir/walk_distinct.h"

namespace solstice::codegen {
namespace {

using ir::ExprRef;
using ir::Op;
using ir::Reducer;
using ir::ValueKind;

constexpr double kShort = 64;  // points of a mean that fp32 adds up well enough

// One reduction, whose arguments are expanded.
class Expansion {
 public:
  Expansion(Interner& interner, const ir::Program& program) : interner_(interner), program_(program) {}

  ExprRef of(const ExprRef& e) {
    switch (e->reducer) {
      case Reducer::kMean:
        return exact_mean(*e);
      case Reducer::kVar:
        return variance(*e);
      case Reducer::kLogSumExp:
        return log_sum_exp(*e);
      default:
        return e;
    }
  }

 private:
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

  ExprRef mean(const ir::Expr& e) { return real(Op::kDiv, {reduce(e, Reducer::kSum, real_body(e.args[0])), count(e)}); }

  // An integer sum must not overflow: mean and var are of reals.
  ExprRef real_body(const ExprRef& body) {
    return body->kind == ValueKind::kReal ? body : real(Op::kMul, {body, interner_.real(1.0)});
  }

  ExprRef cast(DType dtype, ExprRef value) {
    ir::Expr e;
    e.op = Op::kCast;
    e.dtype = dtype;
    e.args = {std::move(value)};
    return interner_.intern(std::move(e));
  }

  bool reads_doubles(const ExprRef& root) const {
    bool out = false;
    walk_distinct(root, [&](const ir::Expr& e) {
      const bool known = e.op == Op::kRead && e.id >= 0 && static_cast<size_t>(e.id) < program_.tensors.size();
      out |= (known && program_.tensor(e.id).dtype == DType::kF64) || (e.op == Op::kCast && e.dtype == DType::kF64);
    });
    return out;
  }

  ExprRef exact_mean(const ir::Expr& e) {
    const ExprRef points = count(e);
    const bool few = points->op == Op::kReal && points->real <= kShort;
    if (few || reads_doubles(e.args[0])) return mean(e);
    ir::Expr wide = e;
    wide.args[0] = cast(DType::kF64, real_body(e.args[0]));
    return cast(DType::kF32, mean(wide));
  }

  ExprRef variance(const ir::Expr& e) {
    const ExprRef distance = real(Op::kSub, {e.args[0], exact_mean(renamed(e))});
    ir::Expr squares = e;
    squares.args[0] = real(Op::kMul, {distance, distance});
    return mean(squares);
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
  const ir::Program& program_;
};

}  // namespace

ExprRef ReducerExpander::expand(const ExprRef& root) {
  if (const auto found = memo_.find(root.get()); found != memo_.end()) return found->second;
  ir::Expr copy = *root;
  for (ExprRef& arg : copy.args) arg = expand(arg);
  const int source = interner_.source_of(*root);
  const int around = interner_.set_source(source);
  ExprRef out = interner_.intern(std::move(copy));
  if (out->op == Op::kReduce) out = Expansion(interner_, program_).of(out);
  interner_.set_source(around);
  memo_.emplace(root.get(), out);
  return out;
}

}  // namespace solstice::codegen
