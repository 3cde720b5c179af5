// Ancestors: the tensors that a tensor is computed from.
#pragma once

#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// A flag for each tensor: `output` depends on it. It depends on itself, too.
std::vector<char> ancestors_of(const Program& program, int output);

}  // namespace solstice::ir
