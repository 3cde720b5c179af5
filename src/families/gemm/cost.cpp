#include "families/gemm/cost.h"

#include <algorithm>

#include "families/emission.h"
#include "families/gemm/operand_cost.h"
#include "families/gemm/stream/stream.h"
#include "families/tensor_core/stream_k.h"
#include "families/tensor_core/tile_cost.h"

namespace solstice::families::gemm {
namespace {

constexpr double kReadAgain = 0.7;  // of lines that are not contiguous and scaled whole, beyond the first time
// Time of a launch beyond its tiles (start, first loads, the last tile's epilogue): fitted like the constants of
// tile_cost.cpp.
constexpr double kProductOverhead = 5e-6, kClusterOverhead = 1e-6;

struct Moved {
  double split = 0, product = 0;  // bytes
  double instructions = 0;        // of a prologue in the split pass
};

// Traffic of one operand: of the split pass, and of the product.
Moved traffic_of(const Context& context, const OperandAccess& operand, int64_t lines, const Contraction& c,
                 const Settings& s) {
  const double elements = elements_of(operand, lines, c), bytes = elements * bytes_of_element(operand);
  if (!needs_planes(s, operand, major_of(operand, lines, c.k))) return {0, bytes, 0};
  const double planes = elements * numerics::info(s.math).planes * element_bytes(s.math);
  // Lines that are not contiguous are read twice to be scaled, and L2 keeps little of them.
  const double again = is_line_scaled(s) && major_of(operand, lines, c.k) == Major::kMN ? kReadAgain * bytes : 0;
  if (is_packed(context.program, s, operand)) return {0, planes, 0};
  return {bytes + again + planes, planes, elements * prologue_instructions(operand) * (is_line_scaled(s) ? 2 : 1)};
}

}  // namespace

Cost estimate_tiled(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const Moved a = traffic_of(context, c.a, c.m, c, s);
  Moved b = traffic_of(context, c.b, c.n, c, s);
  if (c.second) {
    const Moved second = traffic_of(context, c.second->b, c.n, c, s);
    b.split += second.split, b.product += second.product;
  }
  const double result = result_bytes(context.program, problem.product, problem.epilogue);
  const double copy = context.machine.copy_ceiling().per_second;
  CostTerms terms;
  terms.split = std::max((a.split + b.split) / (copy * 0.80),
                         (a.instructions + b.instructions) / issue_rate(context.machine).value);
  const bool clears =
      s.math != Math::kSimt && stream_k(context.machine, problem.product, s).shared > 0;  // in a launch before
  terms.launch = context.machine.launch_time().value * (1 + (terms.split > 0 || clears) + s.scaled) + kProductOverhead +
                 (blocks_of_cluster(s) > 1 ? kClusterOverhead : 0) + fold_time(context.machine, problem.epilogue);
  terms.compute = compute_time({context.program, context.machine, c, problem.epilogue, s});
  // The fp32 kernel computes an operand again for each tile of the other.
  if (s.math == Math::kSimt) terms.compute += prologue_time(context, c, 128);
  terms.memory = ((a.product + b.product) / existing_share(c, s) + result) / copy;
  return cost_of(problem, s, terms, a.split + b.split + a.product + b.product + result);
}

Cost estimate(const Context& context, const Problem& problem, const Settings& s) {
  const bool simt = s.math == Math::kSimt;
  if (is_grouped(problem)) return estimate_grouped(context, problem, s);
  if (is_gemv(s)) return simt ? estimate_gemv(context, problem, s) : estimate_gemv_16_bit(context, problem, s);
  if (s.stream != Streamed::kNone) return estimate_stream(context, problem, s);
  return simt && s.tile_m == kSmallTile ? estimate_small(context, problem, s) : estimate_tiled(context, problem, s);
}

}  // namespace solstice::families::gemm
