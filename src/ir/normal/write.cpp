#include "ir/normal/write.h"

#include <algorithm>

#include "ir/normal/name.h"
#include "ir/normal/terms/range.h"

namespace solstice::ir::normal {
namespace {

class Writer {
 public:
  Writer(const Form& form, Equation& equation) : form_(form), pool_(form.pool), equation_(equation) {}

  int index(int variable) {
    const auto [it, made] = indices_.emplace(variable, static_cast<int>(equation_.indices.size()));
    if (made) {
      std::string name =
          pool_.var(variable).name + (pool_.var(variable).root || names_.insert(pool_.var(variable).name).second
                                          ? ""
                                          : "_" + std::to_string(it->second));
      equation_.indices.push_back({std::move(name), pool_.var(variable).extent, ""});
    }
    return it->second;
  }

  ExprRef write(TermId id) {
    if (const auto found = done_.find(id); found != done_.end()) return found->second;
    ExprRef out = made(id);
    if (pool_.at(id).level == 0) done_.emplace(id, out);  // every reduction has binders of its own
    return out;
  }

 private:
  static ExprRef number(Rational value) {
    if (value.is_integer()) return make_int(value.num);
    return make_real(value.value());
  }

  static ExprRef boolean(bool value) {
    auto e = std::make_shared<Expr>();
    e->op = Op::kBool;
    e->kind = ValueKind::kBool;
    e->integer = value ? 1 : 0;
    return e;
  }

  ExprRef condition(TermId id) {
    const Term& t = pool_.at(id);
    if (t.kind == Kind::kConst) return boolean(t.number.num != 0);
    ExprRef e = write(id);
    return e->kind == ValueKind::kBool ? e : make(Op::kNe, {e, make_int(0)});
  }

  ExprRef all_hold(const std::vector<TermId>& conditions) {
    ExprRef out;
    for (const TermId c : conditions) out = out ? make(Op::kAnd, {out, condition(c)}) : condition(c);
    return out;
  }

  ExprRef made(TermId id) {
    const Term t = pool_.at(id);
    switch (t.kind) {
      case Kind::kConst:
        return number(t.number);
      case Kind::kReal:
        return make_real(t.real);
      case Kind::kVar:
        return make_index(index(t.id));
      case Kind::kRead:
        return read(t);
      case Kind::kOp:
        return operation(t);
      case Kind::kReduce:
        return reduction(id);
      case Kind::kSum:
        return sum(t);
      case Kind::kProduct:
        return product(t);
      case Kind::kGuard:
        return make(Op::kSelect, {all_hold(t.args), make_int(1), make_int(0)});
    }
    return make_int(0);
  }

  ExprRef read(const Term& t) {
    const int tensor = form_.tensor_of(t.id);
    const auto& shape = pool_.symbol(t.id).shape;
    std::vector<ExprRef> indices;
    bool inside = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      const ValueRange range = range_of(pool_, t.args[d]);
      inside = inside && range.low >= 0 && range.high < shape[d];
      indices.push_back(write(t.args[d]));
    }
    const ValueKind kind = pool_.symbol(t.id).value;
    ExprRef otherwise = t.has_else ? write(t.args.back()) : nullptr;
    if (!otherwise && !inside) otherwise = kind == ValueKind::kBool ? boolean(false) : make_int(0);
    return make_read(tensor, kind, std::move(indices), std::move(otherwise));
  }

  ExprRef operation(const Term& t) {
    const bool logical = t.op == Op::kAnd || t.op == Op::kOr || t.op == Op::kNot;
    std::vector<ExprRef> args;
    for (size_t i = 0; i < t.args.size(); ++i)
      args.push_back(logical || (t.op == Op::kSelect && i == 0) ? condition(t.args[i]) : write(t.args[i]));
    if (t.op == Op::kCast) return make_cast(t.dtype, args[0]);
    if (t.op == Op::kSelect && t.value == ValueKind::kBool) {
      for (size_t i = 1; i < 3; ++i) args[i] = condition(t.args[i]);
    }
    if (args.size() <= 2 || t.op == Op::kSelect) return make(t.op, std::move(args));
    ExprRef out = args[0];
    for (size_t i = 1; i < args.size(); ++i) out = make(t.op, {out, args[i]});
    return out;
  }

  ExprRef reduction(TermId id) {
    const Term& t = pool_.at(id);
    const Opened open = opened(form_.pool, id);
    std::vector<int> binders;
    for (const int b : open.binders) binders.push_back(index(b));
    if (t.reducer == Reducer::kArgTop || t.reducer == Reducer::kArgBot)
      return make_reduce(t.reducer, binders, write(open.args[0]), write(open.args[1]));
    const bool truth = t.reducer == Reducer::kAny || t.reducer == Reducer::kAll;
    const ExprRef body = truth ? condition(open.args[0]) : write(open.args[0]);
    return make_reduce(t.reducer, binders, body, all_hold({open.args.begin() + 1, open.args.end()}));
  }

  ExprRef sum(const Term& t) {
    ExprRef out;
    for (const bool negative : {false, true}) {
      for (size_t i = 0; i < t.args.size(); ++i) {
        Rational w = t.weights[i];
        if ((w.num < 0) != negative) continue;
        if (negative && out) w.num = -w.num;
        ExprRef each = write(t.args[i]);
        if (!w.is(1)) each = t.args[i] == pool_.constant(1) ? number(w) : make(Op::kMul, {number(w), each});
        out = !out ? each : make(negative ? Op::kSub : Op::kAdd, {out, each});
      }
    }
    return out ? out : make_int(0);
  }

  ExprRef power(TermId base, Rational e) {
    if (e.is(1)) return write(base);
    if (e == Rational{1, 2}) return make(Op::kSqrt, {write(base)});
    return make(Op::kPow, {write(base), number(e)});
  }

  // Exponentials in one, so that what is large only by itself does not overflow.
  ExprRef product(const Term& t) {
    ExprRef above, below, exponent, guard;
    const auto times = [](ExprRef& into, const ExprRef& factor) {
      into = into ? make(Op::kMul, {into, factor}) : factor;
    };
    for (size_t i = 0; i < t.args.size(); ++i) {
      const Term& base = pool_.at(t.args[i]);
      const Rational e = t.weights[i];
      if (base.kind == Kind::kGuard) {
        guard = all_hold(base.args);
      } else if (base.kind == Kind::kOp && base.op == Op::kExp) {
        ExprRef each = write(base.args[0]);
        if (!e.is(1)) each = make(Op::kMul, {number(e), each});
        exponent = exponent ? make(Op::kAdd, {exponent, each}) : each;
      } else {
        times(e.num > 0 ? above : below, power(t.args[i], Rational{e.num > 0 ? e.num : -e.num, e.den}));
      }
    }
    if (exponent) times(above, make(Op::kExp, {exponent}));
    if (!above) above = make_int(1);
    if (below) above = make(Op::kDiv, {above, below});
    return guard ? make(Op::kSelect, {guard, above, make_int(0)}) : above;
  }

  const Form& form_;
  Pool& pool_;
  Equation& equation_;
  std::map<int, int> indices_;
  std::set<std::string> names_;
  std::map<TermId, ExprRef> done_;
};

Equation equation_of(const Form& form, int tensor, const std::vector<TermId>& left, const std::vector<int>& free,
                     TermId value, int step) {
  Equation out;
  Writer writer(form, out);
  out.target = tensor;
  for (const int v : free) out.free.push_back(writer.index(v));
  for (const TermId i : left) out.lhs.push_back(writer.write(i));
  out.rhs = writer.write(value);
  if (step >= 0) out.step_index = writer.index(step);
  return out;
}

}  // namespace

Program written(const Form& form) {
  Program out = form.program;
  out.equations.clear();
  out.kernels.clear();
  out.assumptions.clear();
  std::erase_if(out.items, [](const Item& i) { return i.opaque < 0; });
  const auto add = [&](Equation e) {
    out.items.push_back({static_cast<int>(out.equations.size()), -1, -1});
    out.equations.push_back(std::move(e));
  };
  for (const Definition& d : form.definitions) {
    Equation e = equation_of(form, d.tensor, d.left, d.free, d.value, d.step);
    const Equation& original = form.program.equation(d.equation);
    e.group = original.group;
    e.step_sign = original.step_sign;
    add(std::move(e));
  }
  for (const Root& r : form.roots) add(equation_of(form, r.tensor, r.left, r.free, r.value, -1));
  for (Tensor& t : out.tensors) t.kernel = -1;
  return out;
}

}  // namespace solstice::ir::normal
