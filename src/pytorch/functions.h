// Functions of the language's prelude that PyTorch has an operator for, found again in equations, where they stand
// written out.
#pragma once

#include <optional>
#include <string>

#include "ir/program.h"

namespace solstice::pytorch {

struct Call {
  std::string function;  // "F.gelu"
  ir::ExprRef argument;
  std::string rest;  // of the arguments: ", approximate=\"tanh\""
};

// The function that `e` is as a whole; the longest, where one is a part of another.
std::optional<Call> call_of(const ir::ExprRef& e);

}  // namespace solstice::pytorch
