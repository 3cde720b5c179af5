// Equations as a PyTorch module: what a person would have written who knows PyTorch's operators and nothing of kernels.
// It is the original that kernels of a program without a module are verified against, and timed against.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program.h"

namespace solstice::pytorch {

// A self-contained file in KernelBench's format: `Model` with the program's parameters and buffers at their paths (of
// those without one, at their names), whose forward takes the inputs and returns the outputs in the program's order,
// and writes new values of buffers; get_inputs() and get_init_inputs(). Equations are computed one after another by
// operators on whole tensors: sums of products by einsum in the operands' own precision, all else in f32 (f64 where the
// program has it), casts as they stand. A local is not rounded; a declared tensor is stored in its dtype.
//
// Inputs are drawn by dtype: normal floats (positive where a root, a logarithm or a quotient asks for it), integers
// within the range that indexing with them allows, booleans evenly.
//
// Errors: not_yet for what cannot be written, with the place of the equation (Error::offset): an opaque operation, a
// draw, storage that is shared at an offset, an expression that would take more than 2^31 elements at once.
Result<std::string> module_text(const ir::Program& program, const std::string& name);

// The path of a parameter or buffer in that module.
std::string path_of(const ir::Tensor& t);

}  // namespace solstice::pytorch
