#include "families/tensor_core/cost_terms.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/integer.h"
#include "families/emission.h"
#include "families/gemm/grouped.h"
#include "families/gemm/prologue.h"
#include "families/gemm/rules.h"

namespace solstice::families::gemm {

Cost finished(const Problem& problem, const Settings& s, const CostTerms& terms, double traffic) {
  const Contraction& c = problem.product;
  Cost out;
  const double body = std::max(terms.compute, terms.memory);
  out.time = Seconds(terms.launch + terms.split + body);
  out.bound = terms.launch > terms.split + body ? "latency"
              : terms.memory > terms.compute    ? "memory"
              : s.math == Math::kSimt           ? "simt"
                                                : "tensor";
  out.traffic = Bytes(traffic);
  out.work = Flops(2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k) *
                   static_cast<double>(c.batches) * numerics::info(s.math).products * (s.dual ? 2 : 1));
  const bool simt = s.math == Math::kSimt;
  const char* const how = is_grouped(problem)              ? "grouped"
                          : s.stream != Streamed::kNone    ? "stream"
                          : simt && s.tile_m == kSmallTile ? "small"
                                                           : "tiles";
  out.form = fmt::format("{} {}", numerics::info(s.math).name, how);
  out.terms = {{"launch", Seconds(terms.launch)},
               {"split", Seconds(terms.split)},
               {"compute", Seconds(terms.compute)},
               {"memory", Seconds(terms.memory)}};
  return out;
}

double fold_time(const Context& context, const Problem& problem) {
  constexpr double kFold = 1.5e-6;  // a round trip to L2 for parts, another for those that are corrected
  if (!problem.rows) return 0;
  return context.machine.launch_time().value + kFold +
         static_cast<double>(problem.rows->bytes()) / context.machine.copy_ceiling().per_second;
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

double result_bytes(const Context& context, const Problem& problem) {
  const Contraction& c = problem.product;
  double bytes = 0;
  for (const codegen::EpilogueStore& store : problem.epilogue.stores)
    bytes += static_cast<double>(c.batches * c.m * c.n) * size_of(*context.program.tensor(store.tensor).dtype);
  return bytes;
}

}  // namespace solstice::families::gemm
