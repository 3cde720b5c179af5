#include "ir/rewrite/terms.h"

namespace solstice::ir {
namespace {

bool is_linear(const ExprRef& e) {
  switch (e->op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kNeg:
    case Op::kMul:
    case Op::kDiv:
    case Op::kRead:
      return true;
    case Op::kReduce:
      return e->reducer == Reducer::kSum || e->reducer == Reducer::kMean;
    default:
      return false;
  }
}

class TermExpander {
 public:
  TermExpander(Equation& equation, const Definitions* definitions, size_t most)
      : equation_(equation), definitions_(definitions), most_(most) {}

  using Terms = std::optional<std::vector<Term>>;

  Terms expand(const ExprRef& e) {
    switch (e->op) {
      case Op::kAdd:
      case Op::kSub:
        return added(expand(e->args[0]), expand(e->args[1]), e->op == Op::kSub);
      case Op::kNeg:
        return added(std::vector<Term>(), expand(e->args[0]), true);
      case Op::kMul:
        return multiplied(e, expand(e->args[0]), expand(e->args[1]));
      case Op::kDiv:
        return divided(expand(e->args[0]), e->args[1]);
      case Op::kRead:
        return read(e);
      default:
        return std::vector<Term>{{false, {e}, {}}};
    }
  }

 private:
  Terms read(const ExprRef& e) {
    const Equation* definition = definitions_ && !e->has_else ? definitions_->of(e->id) : nullptr;
    if (definition && is_linear(definition->rhs)) return expand(instance(equation_, *definition, *e));
    return std::vector<Term>{{false, {e}, {}}};
  }

  Terms limited(std::vector<Term> terms) const {
    return terms.size() <= most_ ? Terms(std::move(terms)) : std::nullopt;
  }

  Terms added(Terms a, Terms b, bool negative) const {
    if (!a || !b) return std::nullopt;
    for (Term& term : *b) {
      term.negative = term.negative != negative;
      a->push_back(std::move(term));
    }
    return limited(std::move(*a));
  }

  // A product of two sums stays one: a square of differences written out loses its digits.
  static Terms multiplied(const ExprRef& e, const Terms& a, const Terms& b) {
    if (!a || !b) return std::nullopt;
    if (a->size() > 1 && b->size() > 1) return std::vector<Term>{{false, {e}, {}}};
    std::vector<Term> out;
    for (const Term& x : *a) {
      for (const Term& y : *b) {
        Term term = x;
        term.negative = x.negative != y.negative;
        term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
        term.divisors.insert(term.divisors.end(), y.divisors.begin(), y.divisors.end());
        out.push_back(std::move(term));
      }
    }
    return out;
  }

  Terms divided(Terms a, const ExprRef& divisor) const {
    if (!a) return std::nullopt;
    for (Term& term : *a) term.divisors.push_back(divisor);
    return a;
  }

  Equation& equation_;
  const Definitions* definitions_;
  size_t most_;
};

}  // namespace

std::optional<std::vector<Term>> terms_of(Equation& equation, const ExprRef& e, const Definitions* definitions,
                                          size_t most) {
  return TermExpander(equation, definitions, most).expand(e);
}

ExprRef to_expr(const Term& term) {
  ExprRef out = product(term.factors);
  for (const ExprRef& divisor : term.divisors) out = make(Op::kDiv, {out, divisor});
  return out;
}

ExprRef sum_of(const std::vector<Term>& terms) {
  ExprRef out;
  for (const Term& term : terms) {
    const ExprRef value = to_expr(term);
    if (!out) {
      out = term.negative ? make(Op::kNeg, {value}) : value;
    } else {
      out = make(term.negative ? Op::kSub : Op::kAdd, {out, value});
    }
  }
  return out ? out : make_int(0);
}

}  // namespace solstice::ir
