// Other names for the tensors, indices and dims of a program.
#pragma once

#include <functional>
#include <string>

#include "lang/tree.h"

namespace solstice::lang {

// Every name of a tensor, an index, a dim, or a parameter of a function or definition goes through `rename`; those of
// functions, definitions, kernels and sources stay. The meaning is kept where different names stay different and none
// becomes a reserved word or one of the names that stay.
Program renamed(Program program, const std::function<std::string(const std::string&)>& rename);

// The same program with every number of its expressions that is no integer as f32 holds it.
Program with_f32_numbers(Program program);

}  // namespace solstice::lang
