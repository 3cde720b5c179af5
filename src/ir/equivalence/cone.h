// One tensor of a program in terms of others.
#pragma once

#include <set>
#include <string>

#include "ir/program.h"

namespace solstice::ir {

// `wanted` is the only output; the tensors `given` become inputs; what nothing needs any more goes. Loose equations in
// text order, without kernels: to be interpreted, not compiled.
Program cone(const Program& program, const std::string& wanted, const std::set<std::string>& given);

}  // namespace solstice::ir
