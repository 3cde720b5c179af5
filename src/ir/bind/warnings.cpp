// W017 and W019: legal programs that rarely mean what they say.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"
#include "ir/equal.h"

namespace solstice::ir {
namespace {

bool is_padded(const Expr& e) { return e.op == Op::kRead && e.has_else && is_zero(e.args.back()); }

bool has_padding(const ExprRef& root) {
  bool found = false;
  walk(root, [&](const Expr& e) { found |= is_padded(e); });
  return found;
}

// Is the value 0 where every padded read under it yields its 0?
bool vanishes(const ExprRef& e) {
  const auto both = [&] { return vanishes(e->args[0]) && vanishes(e->args[1]); };
  switch (e->op) {
    case Op::kRead:
      return is_padded(*e);
    case Op::kInt:
    case Op::kReal:
      return is_zero(e);
    case Op::kMul:
      return vanishes(e->args[0]) || vanishes(e->args[1]);
    case Op::kDiv:
    case Op::kPow:
    case Op::kFmod:
    case Op::kRemainder:
    case Op::kFloorDivide:
      return vanishes(e->args[0]);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMin:
    case Op::kMax:
      return both();
    case Op::kSelect:
      return vanishes(e->args[1]) && vanishes(e->args[2]);
    case Op::kNeg:
    case Op::kCast:
    case Op::kAbs:
    case Op::kSign:
    case Op::kSqrt:
    case Op::kTanh:
    case Op::kErf:
    case Op::kErfInv:
    case Op::kSin:
    case Op::kExpm1:
    case Op::kLog1p:
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
    case Op::kReduce:
      return vanishes(e->args[0]);
    default:
      return false;
  }
}

// The addends of a sum: each is summed by itself.
void addends(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op != Op::kAdd && e->op != Op::kSub) {
    out.push_back(e);
    return;
  }
  addends(e->args[0], out);
  addends(e->args[1], out);
}

// The factors of a product, outermost multiplications taken apart.
void factors(const ExprRef& e, std::vector<ExprRef>& out) {
  if (e->op != Op::kMul) {
    out.push_back(e);
    return;
  }
  factors(e->args[0], out);
  factors(e->args[1], out);
}

// Bounded above for all finite inputs, as far as one expression shows it: nothing that grows is left
// unshifted.
bool bounded_above(const ExprRef& e);

bool bounded_below(const ExprRef& e) {
  switch (e->op) {
    case Op::kNeg:
      return bounded_above(e->args[0]);
    case Op::kAbs:
    case Op::kExp:
      return true;
    case Op::kMul:
      return e->args[0] == e->args[1];
    case Op::kInt:
    case Op::kReal:
      return e->real != -std::numeric_limits<double>::infinity();
    case Op::kMax:
      return bounded_below(e->args[0]) || bounded_below(e->args[1]);
    case Op::kPow:
      return e->args[1]->op == Op::kInt && e->args[1]->integer % 2 == 0;
    default:
      return e->kind == ValueKind::kBool;
  }
}

bool subtracts_maximum(const ExprRef& e) {
  bool found = false;
  walk(e->args[1], [&](const Expr& s) {
    found |= s.op == Op::kReduce && (s.reducer == Reducer::kMax || s.reducer == Reducer::kLogSumExp);
    found |= s.op == Op::kRead;  // a shift computed elsewhere
  });
  return found;
}

bool bounded_above(const ExprRef& e) {
  switch (e->op) {
    case Op::kNeg:
      return bounded_below(e->args[0]);
    case Op::kInt:
    case Op::kReal:
      return true;
    case Op::kSub:
      return subtracts_maximum(e) || (bounded_above(e->args[0]) && bounded_below(e->args[1]));
    case Op::kAdd:
      return bounded_above(e->args[0]) && bounded_above(e->args[1]);
    case Op::kMul:
      return e->args[0]->op == Op::kInt || e->args[0]->op == Op::kReal || e->args[1]->op == Op::kReal ||
                     e->args[1]->op == Op::kInt
                 ? true
                 : false;
    case Op::kMin:
      return bounded_above(e->args[0]) || bounded_above(e->args[1]);
    case Op::kMax:
      return bounded_above(e->args[0]) && bounded_above(e->args[1]);
    case Op::kSelect:
      return bounded_above(e->args[1]) && bounded_above(e->args[2]);
    case Op::kTanh:
    case Op::kErf:
    case Op::kSin:
    case Op::kCos:
    case Op::kAtan2:
      return true;
    case Op::kDiv:
      return bounded_above(e->args[0]);
    case Op::kIndex:
      return true;
    default:
      return e->kind != ValueKind::kReal;
  }
}

}  // namespace

void Binder::warn(const Draft& d) {
  if (d.failed) return;
  // A name of this block is bounded if all pieces of its definition are.
  const auto is_bounded = [this](const auto& self, const ExprRef& e, int names) -> bool {
    constexpr int kMostNames = 8;
    if (e->op != Op::kRead || names == kMostNames) return bounded_above(e);
    bool found = false, bounded = true;
    for (const Draft& other : drafts_) {
      if (other.equation.target != e->id) continue;
      found = true;
      bounded = bounded && !other.failed && self(self, other.equation.rhs, names + 1);
    }
    return found ? bounded : bounded_above(e);
  };
  walk(d.equation.rhs, [&](const Expr& e) {
    if (e.op != Op::kReduce || e.reducer != Reducer::kSum) return;
    std::vector<ExprRef> sums;
    std::vector<ExprRef> parts;
    addends(e.args[0], sums);
    for (const ExprRef& s : sums) factors(s, parts);
    for (const ExprRef& f : parts) {
      if (f->op == Op::kRead || f->op == Op::kReduce || !has_padding(f) || vanishes(f)) continue;
      warning("W019", f->span.end ? f->span : e.span,
              fmt::format("`{}` is not 0 where its read is padded", to_text(program_, d.equation, f)),
              "pad the result: define `a[...] = ...` first, then read `a[... else 0]`");
    }
    if (e.args[0]->op == Op::kExp && !is_bounded(is_bounded, e.args[0]->args[0], 0)) {
      warning("W017", e.args[0]->span.end ? e.args[0]->span : e.span,
              fmt::format("the argument of `{}` is not bounded above; f32 overflows at 88.7",
                          to_text(program_, d.equation, e.args[0])),
              "subtract the maximum over the reduced index: `exp(s - max[j](s))`; or use `logsumexp`");
    }
  });
}

}  // namespace solstice::ir
