// One kernel's product as the generator sees it: the contraction, oriented so that the result's rows are
// contiguous along N where possible, its epilogue as text, and what alignment allows.
#pragma once

#include "codegen/epilogue.h"
#include "families/gemm/contraction.h"
#include "families/tensor_core/row_resident.h"
#include "families/tensor_core/row_results.h"

namespace solstice::families::gemm {

struct Problem {
  Contraction product;
  codegen::EpilogueCode epilogue;
  std::optional<RowResults> rows;    // reductions along N
  std::optional<WholeRows> whole;    // elements need reductions along N; `rows` is none then
  double epilogue_instructions = 0;  // of an element, estimated
};

// So many instructions of an element that a loop over them costs less than their text for every element: measured,
// docs/gemm.md.
inline bool has_long_epilogue(const Problem& problem) {
  return problem.epilogue_instructions >= (problem.whole ? 32 : 16);
}

inline bool is_dual(const Problem& problem) { return problem.product.second.has_value(); }

// Errors, each with its reason: illegal_knobs where the equations are not this family's, not_yet where they or a knob
// ask for what is not built.
Result<Problem> make_problem(const ir::Program& program, const ir::Kernel& kernel);

enum class Major { kNone, kK, kMN };  // which dimension of an operand is contiguous
Major major_of(const OperandAccess& operand, int64_t lines, int64_t k);

// Elements that may be loaded at once along the contiguous dimension: every line and batch starts aligned to
// them.
int vector_of(const OperandAccess& operand, Major major, int limit);

bool is_fp8(DType dtype);  // e4m3 or e5m2

// The tensor cores take the operand where it lies: 16-bit format, or fp8 contiguous along k; 16-byte aligned lines and
// batches.
bool copies_directly(const OperandAccess& operand, Major major);

// Products are needed in a half-plane of the result alone, the same in every batch: tiles outside it are only written.
bool has_half_plane(const Problem& problem);

// The copy engine can write output 0: one stride a variable, N contiguous, 16-byte aligned rows and batches.
bool stores_by_copy_engine(const ir::Program& program, const Problem& problem);

}  // namespace solstice::families::gemm
