// What the forms of a product share in the cost model.
#pragma once

#include "families/family.h"
#include "families/gemm/settings.h"

namespace solstice::families::gemm {

// Seconds: launches and the fixed cost, then the split pass, then the longer of the other two.
struct CostTerms {
  double launch = 0, split = 0, compute = 0, memory = 0;
};
Cost finished(const Problem& problem, const Settings& settings, const CostTerms& terms, double traffic);

// Of the launch that folds the parts of rows; 0 without it.
double fold_time(const Context& context, const Problem& problem);

double result_bytes(const Context& context, const Problem& problem);

double elements_of(const OperandAccess& operand, int64_t lines, const Contraction& c);
double bytes_of_element(const OperandAccess& operand);       // that reading it takes
double prologue_instructions(const OperandAccess& operand);  // of an element; 0 where it is read as it lies
// Of fp32 tiles of this size, each of which computes its lines of both operands.
double prologue_time(const Context& context, const Contraction& c, int64_t tile);

}  // namespace solstice::families::gemm
