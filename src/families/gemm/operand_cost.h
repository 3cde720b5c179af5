// Cost of reading the operands of a product, and of its forms from their terms.
#pragma once

#include "families/gemm/settings.h"
#include "families/tensor_core/cost_terms.h"

namespace solstice::families::gemm {

Cost cost_of(const Problem& problem, const Settings& settings, const CostTerms& terms, double traffic);

double elements_of(const OperandAccess& operand, int64_t lines, const Contraction& c);
double bytes_of_element(const OperandAccess& operand);       // that reading it takes
double prologue_instructions(const OperandAccess& operand);  // of an element; 0 where it is read as it lies
// Time of fp32 tiles of this size, each of which computes its lines of both operands.
double prologue_time(const Context& context, const Contraction& c, int64_t tile);

}  // namespace solstice::families::gemm
