#include "families/gemm/cost.h"

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/gemm/grouped/grouped.h"
#include "families/gemm/operand_cost.h"

namespace solstice::families::gemm {
namespace {

// Share of the pipe's ceiling in the mainloop, the time of the sort and of a launch beyond their launches, and of a
// tile beyond its products: fitted to the measurements of docs/measured/gemm.md. Shared loads save power.
double efficiency_of(const Settings& s) {
  const double shared = s.cluster > 1 ? 1.05 : s.cluster_n > 1 ? 1.02 : 1;
  return (s.tile_n == 256 ? 0.88 : 0.72) * shared;
}
constexpr double kSort = 2e-6, kGroupOverhead = 5e-6, kTileOverhead = 0.5e-6;

}  // namespace

Cost estimate_grouped(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const Grouping& grouping = c.grouping;
  const bool rows = grouping.kind == Grouped::kRows;
  const auto ceiling = context.machine.ceiling(*machine::pipe_from_name(numerics::pipe_name(s.math)));
  const double rate = (ceiling.ok() ? ceiling->per_second : 1e9) / context.machine.sm_count * efficiency_of(s);
  const auto groups = static_cast<double>(grouping.groups);
  // A group's last tile has half of its rows on average.
  const double of_group = static_cast<double>(rows ? c.m : c.k) / groups;
  const double row_tiles =
      rows ? of_group / s.tile_m + 0.5 : static_cast<double>(ceil_div(c.m, s.tile_m * s.cluster) * s.cluster);
  const double tiles = groups * row_tiles * static_cast<double>(ceil_div(c.n, s.tile_n * s.cluster_n) * s.cluster_n);
  const double depth = rows ? static_cast<double>(c.k) : std::ceil((of_group + 32) / 64) * 64;
  const double tile = 2.0 * s.tile_m * s.tile_n * depth / rate + kTileOverhead;
  const double bytes_a = static_cast<double>(c.m) * static_cast<double>(c.k) * size_of(c.a.dtype);
  const double bytes_b = static_cast<double>(c.n) * static_cast<double>(c.k) * (rows ? groups : 1) * size_of(c.b.dtype);
  const double result = result_bytes(context.program, problem.product, problem.epilogue);
  CostTerms terms;
  terms.launch = 2 * context.machine.launch_time().value + kSort + kGroupOverhead;
  terms.compute = std::max(1.0, tiles / context.machine.sm_count) * tile;
  terms.memory = (bytes_a + bytes_b + result) / context.machine.copy_ceiling().per_second;
  Cost out = cost_of(problem, s, terms, bytes_a + bytes_b + result);
  if (!rows) out.work = Flops(out.work.value / groups);  // every row is in one group alone
  return out;
}

}  // namespace solstice::families::gemm
