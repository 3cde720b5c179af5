// A value of the generated text: a name, a literal, or an expression that the caller wrote.
#pragma once

#include <optional>
#include <string>

#include "codegen/ctype.h"
#include "codegen/linear.h"

namespace solstice::codegen {

struct Value {
  CType type = CType::kI32;
  std::string text;
  int depth = 0;                   // of the scope that defines it
  Interval range;                  // of integers
  std::optional<double> constant;  // of a real constant; integers are constant when range.lo == range.hi

  bool is_constant() const { return constant.has_value() || (!is_real(type) && range.lo == range.hi); }
};

Value real_constant(double value);
Value integer_constant(int64_t value);
std::optional<double> constant_of(const Value& value);

// The type in which an operator computes on both; a constant takes the other operand's format.
CType common_type(const Value& a, const Value& b);

}  // namespace solstice::codegen
