// Direct evaluation of equations in double, point by point: what generated code is compared with. It is slow and
// obvious on purpose.
#pragma once

#include <map>
#include <vector>

#include "ir/program.h"

namespace solstice::testing {

// Values of all tensors by id; those that the program defines are filled in text order.
using Tensors = std::map<int, std::vector<double>>;
void evaluate(const ir::Program& program, Tensors& values);

}  // namespace solstice::testing
