// One kernel's product as the generator sees it: the contraction, oriented so that the result's rows are contiguous
// along N where possible, and its epilogue as text.
#pragma once

#include "families/gemm/contraction.h"
#include "families/tensor_core/epilogue.h"

namespace solstice::families::gemm {

struct Problem {
  Contraction product;
  Epilogue epilogue;
};

inline bool is_grouped(const Problem& problem) { return is_grouped(problem.product); }
inline bool is_dual(const Problem& problem) { return problem.product.second.has_value(); }

// Errors, each with its reason: illegal_knobs where the equations are not this family's, not_yet where they or a knob
// ask for what is not built.
Result<Problem> make_problem(const ir::Program& program, const ir::Kernel& kernel);

}  // namespace solstice::families::gemm
