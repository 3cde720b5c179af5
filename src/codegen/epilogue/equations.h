// A kernel's equations as functions of its accumulators: all over the anchor's indices, row results marked.
#pragma once

#include <set>
#include <vector>

#include "codegen/epilogue/request.h"

namespace solstice::codegen {

struct EpilogueEquations {
  FlatKernel flat;                       // equations over `canonical`
  int accumulator = -1;                  // reads of tensors from this id on are accumulators
  std::vector<int> canonical;            // indices of `flat`, in the order of the anchor's free ones
  std::vector<std::vector<int>> digits;  // by variable of the request: its canonical indices
  bool reduce = false;                   // some equation does
  std::set<int> reduced;                 // canonical indices that every reduction runs over
  std::vector<int> anchor_reduced;       // the anchor's own indices in their place
  std::set<int> row_results;             // ids of equations with one value a row
  bool row_resident = false;             // some element needs its row's results

  bool is_accumulator(const ir::Expr& e) const { return e.op == ir::Op::kRead && e.id >= accumulator; }
  bool is_row_result(const FlatEquation& equation) const { return row_results.contains(equation.equation); }
};

// Errors: not_yet, naming the equation that is no such function; those of flatten().
Result<EpilogueEquations> epilogue_equations(const ir::Program& program, const ir::Kernel& kernel,
                                             const EpilogueRequest& request);

}  // namespace solstice::codegen
