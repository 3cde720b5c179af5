// Ancestors: the tensors that a tensor is computed from.
#pragma once

#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// By tensor: whether `output` depends on it, itself included.
std::vector<char> ancestors_of(const Program& program, int output);

}  // namespace solstice::ir
