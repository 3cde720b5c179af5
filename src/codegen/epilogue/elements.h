// The epilogue of elements: `load`, `compute` and the stores of outputs that are functions of their own accumulators,
// and the terms of rows' results.
#pragma once

#include "codegen/epilogue/code.h"
#include "codegen/epilogue/equations.h"

namespace solstice::codegen {

Result<EpilogueCode> emit_elements(const ir::Program& program, const EpilogueRequest& request,
                                   EpilogueEquations equations);

}  // namespace solstice::codegen
