// The operators of the language in C++: their spelling, their values for constants and their ranges for integers.
#pragma once

#include <optional>

#include "codegen/value.h"
#include "ir/program.h"

namespace solstice::codegen {

// Functions of kernels/math/special.h; null: the operator is no function of one argument.
const char* function_of(ir::Op op);
// The faster function for values that need few digits (short_values.h); null: there is none.
const char* short_function_of(ir::Op op);
const char* symbol_of(ir::Op op);  // "+"; null: not written between its operands

// The function of kernels/math/division.h that computes modulo 2^64; null: there is none.
const char* wrapped_function_of(ir::Op op);

// floor, ceil or trunc of a quotient of integers: exact, though `a / b` alone is a real that a float need not hold.
struct WholeDivision {
  ir::Op op;
  ir::ExprRef dividend, divisor;
};
std::optional<WholeDivision> whole_division_of(const ir::Expr& e);

bool is_comparison(ir::Op op);
bool is_rounding(ir::Op op);

// The operator on constants, in double: the result is rounded where it is used. Nothing where an operand is no
// constant.
std::optional<double> fold(ir::Op op, const Value& a, const Value& b);
std::optional<double> fold(ir::Op op, const Value& a);

// The range of an integer result; of a comparison 0..1.
Interval integer_range(ir::Op op, Interval a, Interval b);

}  // namespace solstice::codegen
