#include "families/gemm/operand_cost.h"

#include "base/integer.h"
#include "families/emission.h"

namespace solstice::families::gemm {

Cost cost_of(const Problem& problem, const Settings& s, const CostTerms& terms, double traffic) {
  const char* const form = is_grouped(problem)                               ? "grouped"
                           : s.stream != Streamed::kNone                     ? "stream"
                           : s.math == Math::kSimt && s.tile_m == kSmallTile ? "small"
                                                                             : "tiles";
  return tensor_core::cost_of(problem.product, s, terms, traffic, form);
}

double elements_of(const OperandAccess& operand, int64_t lines, const Contraction& c) {
  const double batches = operand.batch == 0 ? 1.0 : static_cast<double>(c.batches);
  return batches * static_cast<double>(lines) * static_cast<double>(c.k);
}

double bytes_of_element(const OperandAccess& operand) {
  return operand.made ? operand.made->bytes : size_of(operand.dtype);
}

double prologue_instructions(const OperandAccess& operand) { return operand.made ? operand.made->instructions : 0; }

double prologue_time(const Context& context, const Contraction& c, int64_t tile) {
  const double m = static_cast<double>(c.m), n = static_cast<double>(c.n),
               elements = static_cast<double>(c.k * c.batches);
  const double of_a = prologue_instructions(c.a) * m * static_cast<double>(ceil_div(c.n, tile));
  const double of_b = prologue_instructions(c.b) * n * static_cast<double>(ceil_div(c.m, tile));
  return (of_a + of_b) * elements / issue_rate(context.machine).value;
}

}  // namespace solstice::families::gemm
