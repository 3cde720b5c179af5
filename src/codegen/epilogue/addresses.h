// Addresses of an epilogue's outputs over the caller's variables.
#pragma once

#include <vector>

#include "codegen/emitter.h"
#include "codegen/epilogue/code.h"
#include "codegen/epilogue/equations.h"

namespace solstice::codegen {

// Binds the variables of the request at depth 0. By variable, the index that it steps, as bind_variable() gives it.
std::vector<int> bind_variables(Emitter& emitter, const ir::Program& program, const EpilogueEquations& equations,
                                const EpilogueRequest& request);

// Sets base and strides, where the offset is a sum of strides times variables.
void set_strides(const ir::Program& program, const EpilogueEquations& equations, const FlatEquation& equation,
                 const std::vector<int>& steps, EpilogueStore& store);

}  // namespace solstice::codegen
