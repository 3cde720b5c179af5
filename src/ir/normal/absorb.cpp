// Pass 5, `absorb`: guards become domains.
//
//   x[a else v]                                 =   select(a within x, x[a], v)
//   exp(select(c, e, -inf))                     =   select(c, exp(e), 0)
//   sum[b](f * select(c, e, 0))                 =   sum[b where c](f * e)
//   max[b](select(c, e, -inf))                  =   max[b where c](e)          (min with inf)
//   and conditions that follow from others go; bounds on one index become its extent (domain.cpp)
//
// Proof. The language's definition of `else`; exp(-inf) is 0; what a reduction leaves out is its neutral element. A
// guard leaves a product only if the other factors are finite wherever it fails: 0 * inf is no 0.
#include <cmath>

#include "ir/normal/expression.h"
#include "ir/normal/passes.h"

namespace solstice::ir::normal {

TermId with_domain(Pool& pool, Expressions& normal, TermId id, Expressions::Steps steps);

namespace {

class Absorber {
 public:
  explicit Absorber(Form& form) : pool_(form.pool), normal_(form.pool, form.enabled) {}

  TermId change(TermId id) {
    const Term& t = pool_.at(id);
    if (t.kind == Kind::kRead && t.has_else) return padded(t);
    if (t.kind == Kind::kOp && t.op == Op::kExp) return exponential(t);
    if (t.kind == Kind::kReduce) return reduction(id);
    return id;
  }

 private:
  TermId padded(const Term& t) {
    std::vector<TermId> at(t.args.begin(), t.args.end() - 1);
    const TermId inside = normal_.of_integers(all_of(pool_, within(pool_, pool_.symbol(t.id).shape, at)));
    const TermId read = pool_.read(t.id, std::move(at));
    if (normal_.is_true(inside)) return read;
    return normal_.is_false(inside) ? t.args.back() : pool_.op(Op::kSelect, {inside, read, t.args.back()});
  }

  bool is_infinite(TermId t, double sign) const {
    return pool_.at(t).kind == Kind::kReal && std::isinf(pool_.at(t).real) && pool_.at(t).real * sign > 0;
  }

  TermId exponential(const Term& t) {
    const Term& a = pool_.at(t.args[0]);
    if (a.kind != Kind::kOp || a.op != Op::kSelect || !is_infinite(a.args[2], -1)) return pool_.op(Op::kExp, t.args);
    return pool_.op(Op::kSelect, {a.args[0], pool_.op(Op::kExp, {a.args[1]}), pool_.constant(0)});
  }

  // The product with its guards taken out.
  TermId unguarded(TermId id, std::vector<TermId>& guards) {
    const Term& t = pool_.at(id);
    if (t.kind != Kind::kOp) return id;
    if (t.op == Op::kSelect && pool_.is_const(t.args[2], 0)) {
      guards.push_back(t.args[0]);
      return unguarded(t.args[1], guards);
    }
    if (t.op == Op::kMul) {
      std::vector<TermId> args = t.args;
      for (const size_t side : {size_t{0}, size_t{1}}) {
        if (signs_.finite(t.args[1 - side])) args[side] = unguarded(args[side], guards);
      }
      return pool_.op(Op::kMul, std::move(args));
    }
    if (t.op == Op::kNeg || (t.op == Op::kDiv && signs_.positive(t.args[1]) && signs_.finite(t.args[1]))) {
      std::vector<TermId> args = t.args;
      args[0] = unguarded(args[0], guards);
      return pool_.op(t.op, std::move(args));
    }
    return id;
  }

  TermId reduction(TermId id) {
    const Term t = pool_.at(id);
    std::vector<TermId> args = t.args;
    const Term& body = pool_.at(args[0]);
    std::vector<TermId> guards;
    if (t.reducer == Reducer::kSum) {
      args[0] = unguarded(args[0], guards);
    } else if ((t.reducer == Reducer::kMax || t.reducer == Reducer::kMin) && body.kind == Kind::kOp &&
               body.op == Op::kSelect && is_infinite(body.args[2], t.reducer == Reducer::kMax ? -1 : 1)) {
      guards.push_back(body.args[0]);
      args[0] = body.args[1];
    }
    args.insert(args.end(), guards.begin(), guards.end());
    const TermId out = guards.empty() ? id : pool_.reduce(t.reducer, t.binders, args);
    return with_domain(pool_, normal_, out, {false, false, true});
  }

  Pool& pool_;
  Signs signs_{pool_};
  Expressions normal_;
};

}  // namespace

void absorb(Form& form) {
  Absorber absorber(form);
  rewrite_all(form, [&](TermId t) { return absorber.change(t); });
}

}  // namespace solstice::ir::normal
