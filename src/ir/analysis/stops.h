// Places where a program may stop at run time, depending on the values of its tensors (docs/language.md, section 8).
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// It stops where `value` is what `kind` says. Stops of one kind, limit and value are one.
struct Stop {
  enum class Kind {
    kOutside,  // a gather's index or a rank beyond 0 .. limit-1
    kUnfit,    // an integer that `dtype` does not hold
    kZero,     // a divisor of integers
    kNothing,  // no point to take the position of an extremum of: `value` says whether there is one
  };
  Kind kind = Kind::kOutside;
  ExprRef value;
  int64_t limit = 0;
  DType dtype = DType::kI64;

  std::string name() const;  // kind and limit
};

// Stops of this node, not of its operands.
std::vector<Stop> stops_of(const Program& program, const Equation& equation, const ExprRef& node);
// Stops of storing the equation's value in a tensor that is narrower than the numbers that int64 holds.
std::vector<Stop> stops_of_store(const Program& program, const Equation& equation);
// Has this node stops? A node that may stop is evaluated only where it was.
bool may_stop(const Expr& node);
bool can_stop(const ExprRef& e);  // or one of its operands

}  // namespace solstice::ir
