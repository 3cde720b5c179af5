// The epilogue of a contraction: C++ text that turns an accumulator into one element of each output of the kernel.
//
// The caller names the contraction (a node of one equation, the anchor) and says which of its variables walk which of
// the anchor's free indices. Everything that does not depend on the accumulator goes to `load`, to be run early (its
// results are the fields of a struct `in`); the rest goes to `compute`. Both are straight-line statements over
//   - the caller's variables (int), which lie inside the problem;
//   - the pointers `names[i]` of type `const storage_type*` for reads[i];
//   - `in.NAME` for every field: `load` assigns them, `compute` reads them;
//   - `acc` (float), in `compute` only; of a second contraction `acc1`.
// They need math/special.h and math/vector.h and `using namespace solstice; using namespace solstice::math;`.
//
// Every output of the kernel must be a function of the accumulators at the same element, or, where the caller takes
// them (`terms`), of reductions over such elements along some of the contraction's indices, the same ones for all: a
// row's results. With `whole_rows`, an output may need both: then nothing but `stores` is written here, and the caller
// gets all equations (`whole`) to write the text of each of its sweeps over a row himself. Other equations that reduce
// over the contraction's result, or read it elsewhere, are an error (not_yet) that names the equation.
#pragma once

#include "base/result.h"
#include "codegen/epilogue/code.h"
#include "codegen/epilogue/request.h"
#include "ir/program.h"

namespace solstice::codegen {

Result<EpilogueCode> emit_epilogue(const ir::Program& program, const ir::Kernel& kernel,
                                   const EpilogueRequest& request);

}  // namespace solstice::codegen
