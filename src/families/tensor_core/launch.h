// What launches of this family share: the result as the copy engine writes it, and the epilogue's pointers.
#pragma once

#include "families/family.h"
#include "families/gemm/problem.h"

namespace solstice::families::gemm {

Argument map_argument(TensorMap map);
// Of output 0, in boxes of 16 rows x 32 columns.
TensorMap output_map(const ir::Program& program, const Problem& problem);
// Tensors that the epilogue reads, then those it writes.
void add_epilogue_pointers(const ir::Program& program, const codegen::EpilogueCode& epilogue, Step& step);

}  // namespace solstice::families::gemm
