#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/emission.h"
#include "families/gemm/cost.h"
#include "families/tensor_core/cost_terms.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {
namespace {

// Share of the pipe's ceiling that a tile reaches in its main loop, and what a launch costs beyond it
// (starting, the first loads, the last tile's epilogue): fitted to the measurements of docs/gemm.md at 16384
// x 4096 x 4096 and 1024^3.
constexpr double kSixProducts = 1.2;  // of planes that are in shared memory once
// Of the datasheet's rate, which no machine file has a measured ceiling beside: at 4096^3.
double tile_efficiency_of_bytes(const Settings& s) {
  if (s.tile_m == 128) return s.tile_n == 256 ? 0.74 : s.tile_n == 128 ? 0.77 : 0.58;
  return s.tile_n == 256 ? 0.54 : s.tile_n == 128 ? 0.61 : 0.41;
}
double tile_efficiency(const Settings& s) {
  if (s.math == Math::kSimt) return 0.67;
  if (s.math == Math::kFP8) return tile_efficiency_of_bytes(s);
  const double products = s.math == Math::kBF16x6 ? kSixProducts : 1;
  if (s.tile_m == 128) return products * (s.tile_n == 256 ? 0.98 : s.tile_n == 128 ? 0.885 : 0.685);
  return products * (s.tile_n == 256 ? 0.745 : s.tile_n == 128 ? 0.68 : 0.58);
}
// Of the time that an epilogue's instructions take at the issue rate: fitted to `bench families`.
constexpr double kEpilogueShare = 0.4, kCrowdedEpilogue = 3, kScaledEpilogue = 1.1;
// Of shared tiles: what a share costs beside its products, more where promoted sums fill the registers; bytes a second
// of sums that a block writes or reads; and how much of the time that SMs had nothing to do stays, since less power was
// drawn in it: less of it where promotion leaves the tensor cores idle.
constexpr double kHandOn = 3e-6, kCrowdedHandOn = 30e-6, kHandedRate = 60e9, kClockShare = 0.4,
                 kPromotedClockShare = 0.15;
constexpr double kAlone = 1.02;  // blocks walk several tiles and share no loads
// Where such tiles are shared and promoted besides, blocks run apart with each tile they walk and meet less of each
// other's data in L2.
constexpr double kApart = 0.03, kMostApart = 5;
constexpr double kReadAgain = 0.7;  // of lines that are not contiguous and scaled whole, beyond the first time
constexpr double kProductOverhead = 5e-6, kClusterOverhead = 1e-6;

struct Moved {
  double split = 0, product = 0;  // bytes
  double instructions = 0;        // of a prologue in the split pass
};

// What the split pass moves, and what the product reads of one operand.
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

// Of a batch, in tiles of a cluster. The fp32 kernel computes all of them.
int64_t tiles_with_products(const Problem& problem, int64_t rows, int64_t columns, bool simt) {
  const int64_t m = ceil_div(problem.product.m, rows), n = ceil_div(problem.product.n, columns);
  if (!has_half_plane(problem) || simt) return m * n;
  const codegen::EpilogueDomain& d = *problem.epilogue.domain;
  const int64_t by_row = d.coefficients[1], by_column = d.coefficients[2];
  int64_t out = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t row = i * rows + (by_row > 0 ? rows - 1 : 0),
                    column = j * columns + (by_column > 0 ? columns - 1 : 0);
      out += by_row * row + by_column * column + d.base >= 0;
    }
  }
  return out;
}

constexpr double kSweep = 0.3e-6;     // of a tile of whole rows, exchanges between its cluster's blocks with it
constexpr double kScaleLines = 2e-6;  // and where its sums are scaled before
constexpr double kWholeEpilogue = 0.6,
                 kLongWhole = 1.4;  // share of the time of its instructions, and where they are a loop

// Beside the one that writes.
double sweeps_of(const Problem& problem) { return static_cast<double>(problem.whole->sweeps.size() - 1); }

// Sums that are promoted leave no registers for an epilogue where a thread holds 128 elements.
bool is_crowded(const Settings& s) { return s.scaled && !is_line_scaled(s) && s.tile_n == 256; }

int64_t blocks_of_cluster(const Settings& s) { return int64_t{s.cluster} * s.cluster_n; }

// Of a tile that has its SM to itself: its products, and what follows them there and nothing covers.
struct TileTime {
  double product = 0, ending = 0;
};

double product_time(const Context& context, const Contraction& c, const Settings& s) {
  const auto ceiling = context.machine.ceiling(*machine::pipe_from_name(numerics::pipe_name(s.math)));
  const double rate = ceiling.ok() ? ceiling->per_second : 1e9;
  const double work = 2.0 * s.tile_m * s.tile_n * static_cast<double>(c.k) * numerics::info(s.math).products;
  return work / (rate / context.machine.sm_count * tile_efficiency(s));
}

double ending_time(const Context& context, const Problem& problem, const Settings& s) {
  const int columns = columns_of(s);
  const double usual = !s.scaled ? kEpilogueShare : is_crowded(s) ? kCrowdedEpilogue : kScaledEpilogue;
  const double share = !problem.whole ? usual : has_long_epilogue(problem) ? kLongWhole : kWholeEpilogue;
  const double instructions = problem.epilogue_instructions * share * s.tile_m * columns /
                              (issue_rate(context.machine).value / context.machine.sm_count);
  // An epilogue by the copy engine drains at about 6 bytes a clock and SM; line by line at a third of that.
  const double drained =
      (stores_by_copy_engine(context.program, problem) ? 2.5e-6 : 7.5e-6) * s.tile_m * columns / (128.0 * 256.0);
  const double epilogue = problem.epilogue.stores.empty() ? 0 : drained;
  // Of a pair, outputs beyond the first are what two kernels would write by the copy engine.
  const double others =
      s.dual ? 7.5e-6 * static_cast<double>(problem.epilogue.stores.size() - 1) * s.tile_m * columns / (128.0 * 256.0)
             : 0;
  // Sweeps over rows of a whole tile and the exchanges between the blocks of a cluster.
  const double sweeps = problem.whole ? sweeps_of(problem) * kSweep + (is_line_scaled(s) ? kScaleLines : 0) : 0;
  return epilogue + others + instructions + sweeps;
}

// Two blocks of the fp32 kernel share an SM, so a round of them takes twice as long as one alone would.
double simt_slowdown(double blocks, double sms) { return blocks > sms ? 2 : 1; }

// Tiles one after another, round by round over the SMs.
double rounds_time(const Context& context, const Problem& problem, const Settings& s, const TileTime& tile) {
  const bool simt = s.math == Math::kSimt;
  const int64_t blocks = blocks_of_cluster(s);
  const double sms = context.machine.sm_count;
  const int64_t of_batch =
      tiles_with_products(problem, int64_t{s.tile_m} * s.cluster, int64_t{columns_of(s)} * s.cluster_n, simt);
  const double tiles = static_cast<double>(of_batch * blocks * problem.product.batches);
  if (simt) return std::ceil(tiles / (2 * sms)) * (tile.product * simt_slowdown(tiles, sms) + tile.ending);
  const double rounds = std::ceil(tiles / static_cast<double>(clusters_at_once(context.machine, blocks) * blocks));
  // Where blocks walk several tiles, loads that two of them share save power and L2; where they do not, a cluster only
  // starts later.
  const double alone = rounds > 1 && blocks == 1 ? kAlone : 1;
  return rounds * (tile.product * alone + tile.ending);
}

// Whole tiles round by round, and a share of the others.
double shared_time(const SharedPlan& shared, const Settings& s, const TileTime& tile) {
  const double whole = std::floor(static_cast<double>(shared.whole()) / static_cast<double>(shared.clusters));
  const double of_tile = static_cast<double>(shared.shared) / static_cast<double>(shared.workers);
  // Sums of other blocks that the last to end adds to its own.
  const double added = std::max(1.0, std::ceil(1 / of_tile - 1e-9) - 1);
  const bool crowded = is_crowded(s);
  const double handed = (crowded ? kCrowdedHandOn : kHandOn) + (1 + added) * 4.0 * s.tile_m * s.tile_n / kHandedRate;
  const double walked = whole + of_tile - 1;
  const double apart = crowded ? kApart * std::min(walked, kMostApart) : 0;
  const double alone = walked > 0 && blocks_of_cluster(s) == 1 ? kAlone + apart : 1;
  const double clock = s.scaled && !is_line_scaled(s) ? kPromotedClockShare : kClockShare;
  const double unused = whole > 0 ? std::ceil(of_tile) - of_tile : 0;  // of the last round, were tiles not shared
  return (whole + of_tile + clock * unused) * alone * tile.product + (whole + std::ceil(of_tile)) * tile.ending +
         handed;
}

// Whole rows in fp32: a block takes the tiles of 128 rows one after the other and goes over their sums in memory.
double whole_lines_time(const Context& context, const Problem& problem, const Settings& s) {
  const Contraction& c = problem.product;
  const double sms = context.machine.sm_count;
  const double blocks = static_cast<double>(ceil_div(c.m, int64_t{s.tile_m}) * c.batches);
  const double tiles = static_cast<double>(ceil_div(c.n, int64_t{s.tile_n}));  // of a block
  const double bytes = 4.0 * static_cast<double>(c.batches * c.m * c.n) * (2 * sweeps_of(problem) + 2);
  return std::ceil(blocks / (2 * sms)) * simt_slowdown(blocks, sms) * tiles * product_time(context, c, s) +
         bytes / context.machine.copy_ceiling().per_second;
}

double compute_time(const Context& context, const Problem& problem, const Settings& s) {
  const bool simt = s.math == Math::kSimt;
  if (problem.whole && simt) return whole_lines_time(context, problem, s);
  const TileTime tile{product_time(context, problem.product, s), ending_time(context, problem, s)};
  const SharedPlan shared = simt ? SharedPlan{} : shared_plan(context, problem, s);
  return shared.shared > 0 ? shared_time(shared, s, tile) : rounds_time(context, problem, s, tile);
}

// Rows of a box that do not exist are zeros, and take the copy engine as long as those that do: 16 x 8192 x 8192 bf16
// with tiles of 64x64, 128x64 and 64x128.
double existing_share(const Contraction& c, const Settings& s) {
  if (s.math == Math::kSimt) return 1;
  return static_cast<double>(std::min<int64_t>(c.m, s.tile_m) + std::min<int64_t>(c.n, s.tile_n)) /
         (s.tile_m + s.tile_n);
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
  const double result = result_bytes(context, problem);
  const double copy = context.machine.copy_ceiling().per_second;
  CostTerms terms;
  terms.split = std::max((a.split + b.split) / (copy * 0.80),
                         (a.instructions + b.instructions) / issue_rate(context.machine).value);
  const bool clears = s.math != Math::kSimt && shared_plan(context, problem, s).shared > 0;  // in a launch before
  terms.launch = context.machine.launch_time().value * (1 + (terms.split > 0 || clears) + s.scaled) + kProductOverhead +
                 (blocks_of_cluster(s) > 1 ? kClusterOverhead : 0) + fold_time(context, problem);
  terms.compute = compute_time(context, problem, s);
  // The fp32 kernel computes an operand again for each tile of the other.
  if (s.math == Math::kSimt) terms.compute += prologue_time(context, c, 128);
  terms.memory = ((a.product + b.product) / existing_share(c, s) + result) / copy;
  return finished(problem, s, terms, a.split + b.split + a.product + b.product + result);
}

}  // namespace solstice::families::gemm
