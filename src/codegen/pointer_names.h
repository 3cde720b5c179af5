// Names of the pointers to a program's tensors in generated code.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"

namespace solstice::codegen {

// By tensor, all different: "p_" and the tensor's name as an identifier.
std::vector<std::string> pointer_names(const ir::Program& program);
// That of one tensor, without making all of them.
std::string pointer_name(const ir::Program& program, int tensor);

}  // namespace solstice::codegen
