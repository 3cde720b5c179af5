#include "ir/equivalence/magnitude.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/equivalence/compare.h"

namespace solstice::ir {
namespace {

ExprRef operator+(const ExprRef& a, const ExprRef& b) { return make(Op::kAdd, {a, b}); }
ExprRef operator-(const ExprRef& a, const ExprRef& b) { return make(Op::kSub, {a, b}); }
ExprRef operator*(const ExprRef& a, const ExprRef& b) { return make(Op::kMul, {a, b}); }
ExprRef operator/(const ExprRef& a, const ExprRef& b) { return make(Op::kDiv, {a, b}); }
ExprRef size_of(const ExprRef& e) { return make(Op::kAbs, {e}); }

// The first-order bound of an equation's rounding error, in units of the rounding: of f(x) it is |f| + |f'| M(x).
class Magnitudes {
 public:
  Magnitudes(const std::vector<int>& twins, Equation& equation, double tolerance = kTolerance)
      : twins_(twins), equation_(equation), tolerance_(tolerance) {}

  // A tensor that is read in several places has one magnitude, which is evaluated once.
  const ExprRef& of(const ExprRef& e) {
    const auto known = known_.find(e);
    return known != known_.end() ? known->second : known_.emplace(e, magnitude_of(e)).first->second;
  }

 private:
  ExprRef magnitude_of(const ExprRef& e) {
    if (e->kind != ValueKind::kReal) return size_of(e);  // exact
    if (e->op == Op::kRead) return read(*e);
    if (e->op == Op::kReduce) return reduction(e);
    if (e->args.size() == 1) return of_one(e, e->args[0]);
    if (e->args.size() == 2) return of_two(e, e->args[0], e->args[1]);
    if (e->op == Op::kSelect) return make(Op::kSelect, {e->args[0], of(e->args[1]), of(e->args[2])});
    return size_of(e);
  }

  ExprRef read(const Expr& e) {
    const int twin = twins_[static_cast<size_t>(e.id)];
    std::vector<ExprRef> indices(e.args.begin(), e.args.end() - (e.has_else ? 1 : 0));
    if (twin < 0) return size_of(std::make_shared<Expr>(e));
    return make_read(twin, ValueKind::kReal, std::move(indices), e.has_else ? of(e.args.back()) : nullptr);
  }

  ExprRef of_one(const ExprRef& e, const ExprRef& x) {
    switch (e->op) {
      case Op::kNeg:
      case Op::kAbs:
      case Op::kCast:
        return of(x);
      case Op::kExp:
        return e * (make_real(1) + of(x));
      case Op::kExpm1:
        return size_of(e) + make(Op::kExp, {x}) * of(x);
      case Op::kLog:
        return size_of(e) + of(x) / size_of(x);
      case Op::kLog1p:
        return size_of(e) + of(x) / size_of(make_real(1) + x);
      case Op::kSqrt:
        return e + make_real(0.5) * of(x) / e;
      case Op::kRsqrt:
        return e + make_real(0.5) * e * of(x) / size_of(x);
      case Op::kTanh:
        return size_of(e) + (make_real(1) - e * e) * of(x);
      case Op::kErf:
        return size_of(e) + make_real(1.13) * make(Op::kExp, {make(Op::kNeg, {x * x})}) * of(x);
      case Op::kSin:
      case Op::kCos:
        return size_of(e) + of(x);
      case Op::kErfInv:
        return size_of(e) + make_real(0.89) * make(Op::kExp, {e * e}) * of(x);
      case Op::kLgamma:
        return size_of(e) + (make_real(1) + size_of(e)) * of(x);
      default:
        return size_of(e);  // steps
    }
  }

  ExprRef of_two(const ExprRef& e, const ExprRef& x, const ExprRef& y) {
    switch (e->op) {
      case Op::kAdd:
      case Op::kSub:
      case Op::kMod:
        return of(x) + of(y);
      case Op::kMul:
        return of_product(x, y);
      case Op::kDiv:
        return of(x) / size_of(y) + size_of(e) * of(y) / size_of(y);
      case Op::kFmod:
      case Op::kRemainder:
        return of(x) + size_of(x / y) * of(y);
      case Op::kPow:
        if (y->op == Op::kInt && y->integer == 2) return of_product(x, x);
        return size_of(e) + size_of(y * make(Op::kPow, {x, y - make_int(1)})) * of(x);
      case Op::kMax:
        if (coarse()) return make(Op::kMax, {of_candidate(x, e), of_candidate(y, e)});
        return make(Op::kSelect, {make(Op::kGe, {x, y}), of(x), of(y)});
      case Op::kMin:
        if (coarse()) return make(Op::kMax, {of_candidate(x, e), of_candidate(y, e)});
        return make(Op::kSelect, {make(Op::kLe, {x, y}), of(x), of(y)});
      case Op::kAtan2:
        return size_of(e) + (size_of(x) * of(y) + size_of(y) * of(x)) / (x * x + y * y);
      default:
        return size_of(e);
    }
  }

  // To the second order: what is the square of a difference that cancels has no first.
  ExprRef of_product(const ExprRef& x, const ExprRef& y) {
    const ExprRef a = of(x), b = of(y);
    return size_of(x) * b + size_of(y) * a + make_real(tolerance_) * (a * b);
  }

  // Elements that errors let win a maximum are looked for only here: it triples the work.
  bool coarse() const { return tolerance_ > 1e-5; }

  // Terms of `x` where a maximum or minimum `e` is `x`, or would be with the error that `x` may have. A mask's
  // infinity is not.
  ExprRef of_candidate(const ExprRef& x, const ExprRef& e) {
    const ExprRef terms = of(x), is_result = make(Op::kEq, {x, e});
    if (!coarse()) return make(Op::kSelect, {is_result, terms, make_real(0)});
    const ExprRef reaches = make(Op::kLt, {size_of(e - x), make_real(tolerance_) * terms});
    return make(Op::kSelect, {make(Op::kOr, {is_result, reaches}), terms, make_real(0)});
  }

  ExprRef reduction(const ExprRef& e) {
    const ExprRef where = e->args.size() > 1 ? e->args[1] : nullptr;
    const auto over = [&](Reducer r, const ExprRef& body) { return make_reduce(r, e->binders, body, where); };
    const ExprRef& body = e->args[0];
    switch (e->reducer) {
      case Reducer::kSum:
      case Reducer::kMean:
        return over(e->reducer, of(body));
      case Reducer::kProd:
        return over(Reducer::kProd, of(body));
      case Reducer::kVar: {
        const ExprRef distance = body - renamed(make_reduce(Reducer::kMean, e->binders, body, where));
        return over(Reducer::kMean, of(distance * distance));
      }
      case Reducer::kLogSumExp:
        return size_of(e) + over(Reducer::kSum, make(Op::kExp, {body - renamed(e)}) * of(body));
      case Reducer::kMax:
      case Reducer::kMin:
        return over(Reducer::kMax, of_candidate(body, renamed(e)));
      default:
        return size_of(e);
    }
  }

  // The reduction with bound indices of its own, to stand inside itself.
  ExprRef renamed(const ExprRef& e) {
    std::map<int, int> fresh;
    return renamed(e, fresh);
  }
  ExprRef renamed(const ExprRef& e, std::map<int, int>& fresh) {
    auto copy = std::make_shared<Expr>(*e);
    if (e->op == Op::kIndex && fresh.count(e->id)) copy->id = fresh[e->id];
    for (int& b : copy->binders) {
      fresh[b] = static_cast<int>(equation_.indices.size());
      equation_.indices.push_back(equation_.indices[static_cast<size_t>(b)]);
      b = fresh[b];
    }
    for (ExprRef& a : copy->args) a = renamed(a, fresh);
    return copy;
  }

  const std::vector<int>& twins_;
  Equation& equation_;
  double tolerance_;
  std::map<ExprRef, ExprRef> known_;
};

std::vector<int> text_order(const Program& program) {
  std::vector<int> out;
  for (const Item& item : program.items) {
    if (item.equation >= 0) out.push_back(item.equation);
    if (item.kernel < 0) continue;
    const auto& inside = program.kernels[static_cast<size_t>(item.kernel)].equations;
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

}  // namespace

std::string magnitude_name(const std::string& tensor) { return "|" + tensor + "|"; }

namespace {

// 1 or -1, by the element and the seed.
ExprRef sign_of(const Equation& e, int seed) {
  ExprRef phase = make_real(1.7 * seed + 0.618 * e.target);
  double step = 12.9898;
  for (const int i : e.free) phase = phase + make_real(step) * make_index(i), step += 65.2432;
  return make(Op::kSelect, {make(Op::kGt, {make(Op::kSin, {phase}), make_real(0)}), make_real(1), make_real(-1)});
}

std::set<int> read_tensors(const Program& program) {
  std::set<int> out;
  for (const Equation& e : program.equations) {
    walk(e.rhs, [&](const Expr& r) {
      if (r.op == Op::kRead) out.insert(r.id);
    });
  }
  return out;
}

}  // namespace

Program with_errors(const Program& program, int seed) {
  Program out = program;
  const std::vector<int> none(program.tensors.size(), -1);
  const std::set<int> read = read_tensors(program);
  for (Equation& e : out.equations) {
    if (program.target_of(e).value != ValueKind::kReal || !read.count(e.target)) continue;
    const ExprRef error = make_real(kTolerance) * Magnitudes(none, e).of(e.rhs);
    e.rhs = e.rhs + make(Op::kSelect, {make(Op::kIsFinite, {error}), sign_of(e, seed) * error, make_real(0)});
  }
  return out;
}

Program with_magnitudes(const Program& program, bool carried, double tolerance) {
  Program out = program;
  std::vector<int> twins(program.tensors.size(), -1);
  for (const Equation& e : program.equations) {
    int& twin = twins[static_cast<size_t>(e.target)];
    const Tensor& t = program.target_of(e);
    const bool asked = t.kind == TensorKind::kOutput || t.into >= 0;
    if (t.value != ValueKind::kReal || twin >= 0 || (!carried && !asked)) continue;
    twin = static_cast<int>(out.tensors.size());
    Tensor of = t;
    of.name = magnitude_name(t.name);
    of.kind = asked ? TensorKind::kOutput : TensorKind::kLocal;
    of.into = of.same = -1;
    out.tensors.push_back(std::move(of));
  }
  const std::vector<int> none(program.tensors.size(), -1);
  out.equations.clear();
  out.items.clear();
  out.kernels.clear();
  const auto add = [&](Equation e) {
    out.items.push_back({static_cast<int>(out.equations.size()), -1, -1});
    out.equations.push_back(std::move(e));
  };
  for (const int id : text_order(program)) {
    const Equation& e = program.equation(id);
    add(e);
    const int twin = twins[static_cast<size_t>(e.target)];
    if (twin < 0) continue;
    Equation of = e;
    of.target = twin;
    of.rhs = Magnitudes(carried ? twins : none, of, tolerance).of(e.rhs);
    add(std::move(of));
  }
  return out;
}

Terms terms_of(const Program& problem, const std::string& tensor, ValuesOf values) {
  const auto magnitudes = [&problem, values, name = magnitude_name(tensor)](bool carried) -> TermsOf {
    return [=, &problem](const std::vector<size_t>& places) {
      return values(with_magnitudes(problem, carried), name, places);
    };
  };
  const auto errors = [&problem, values, tensor](int seed) -> TermsOf {
    return
        [=, &problem](const std::vector<size_t>& places) { return values(with_errors(problem, seed), tensor, places); };
  };
  return {magnitudes(true), magnitudes(false), errors};
}

}  // namespace solstice::ir
