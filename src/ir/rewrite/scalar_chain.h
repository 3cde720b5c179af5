// A chain of scalings, shifts and clamps by literals: x -> clamp(factor * x + shift, low, high).
#pragma once

#include <optional>

#include "ir/rational.h"
#include "ir/rewrite/subject.h"

namespace solstice::ir {

// A literal, or what became of several: as a fraction while that is known.
struct Number {
  explicit Number(double v) : value(v), exact(Rational::of(v)) {}
  Number(double v, std::optional<Rational> e) : value(e ? e->value() : v), exact(e) {}

  bool is_written() const;  // by a literal

  double value;
  std::optional<Rational> exact;
};

struct ScalarChain {
  ScalarChain();

  ExprRef to_expr() const;
  bool clamped() const;
  bool is_finite() const;
  bool is_written() const;  // by literals
  int cost() const;         // operations that it takes
  ScalarChain scaled(const Number& c) const;
  ScalarChain divided(const Number& c) const;
  ScalarChain moved(const Number& c) const;
  ScalarChain cut(const Number& c, bool below) const;
  // The sum of two unclamped chains of one operand.
  std::optional<ScalarChain> plus(const ScalarChain& other) const;

  Number factor, shift, low, high;
  ExprRef base;
  int steps = 0;  // operations that it was written with
};

// The chain that `e` of `equation` is, through reads of tensors that are a chain of a read.
ScalarChain scalar_chain(Equation& equation, const Definitions& definitions, const ExprRef& e);

}  // namespace solstice::ir
