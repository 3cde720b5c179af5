// Names of the pointers to a program's tensors in generated code.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace solstice::codegen {

// By tensor, all different: "p_" and the tensor's name as an identifier.
std::vector<std::string> pointer_names(const ir::Program& program);

}  // namespace solstice::codegen
