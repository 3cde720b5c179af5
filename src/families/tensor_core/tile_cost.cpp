#include "families/tensor_core/tile_cost.h"

#include <algorithm>
#include <cmath>

#include "base/integer.h"
#include "families/emission.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::tensor_core {
namespace {

// Share of the pipe's ceiling that a tile reaches in its mainloop: fitted to the measurements of docs/measured/gemm.md
// at 16384 x 4096 x 4096 and 1024^3.
constexpr double kSixProducts = 1.2;  // of planes that are in shared memory once
// Share of the datasheet's rate, since no machine file has a measured ceiling of it: at 4096^3.
double tile_efficiency_of_bytes(const TileConfig& s) {
  if (s.tile_m == 128) return s.tile_n == 256 ? 0.74 : s.tile_n == 128 ? 0.77 : 0.58;
  return s.tile_n == 256 ? 0.54 : s.tile_n == 128 ? 0.61 : 0.41;
}
double tile_efficiency(const TileConfig& s) {
  if (s.math == Math::kSimt) return 0.67;
  if (s.math == Math::kFP8) return tile_efficiency_of_bytes(s);
  const double products = s.math == Math::kBF16x6 ? kSixProducts : 1;
  if (s.tile_m == 128) return products * (s.tile_n == 256 ? 0.98 : s.tile_n == 128 ? 0.885 : 0.685);
  return products * (s.tile_n == 256 ? 0.745 : s.tile_n == 128 ? 0.68 : 0.58);
}
// Share of the epilogue's time at the issue rate: fitted to `bench families`.
constexpr double kEpilogueShare = 0.4, kCrowdedEpilogue = 3, kScaledEpilogue = 1.1;
// Stream-K: the time of a share's fix-up, longer if promoted sums fill the registers; the rate in bytes per second at
// which a block writes or reads accumulators; and the share of idle time that is lost all the same, since idle SMs draw
// less power: less of it if promotion leaves the tensor cores idle.
constexpr double kFixUp = 3e-6, kCrowdedFixUp = 30e-6, kFixUpRate = 60e9, kClockShare = 0.4, kPromotedClockShare = 0.15;
constexpr double kAlone = 1.02;  // blocks walk several tiles and share no loads
// Blocks that share no loads and promote drift apart with each tile, and find less of each other's data in L2.
constexpr double kApart = 0.03, kMostApart = 5;

// Tiles of a batch, in units of a cluster. The fp32 kernel computes all of them.
int64_t tiles_with_products(const TiledProduct& of, int64_t rows, int64_t columns, bool simt) {
  const int64_t m = ceil_div(of.product.m, rows), n = ceil_div(of.product.n, columns);
  if (!is_triangular(of.product, of.epilogue) || simt) return m * n;
  const codegen::EpilogueDomain& d = *of.epilogue.code.domain;
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

// Without the one that stores.
double sweeps_of(const Epilogue& epilogue) { return static_cast<double>(epilogue.resident->sweeps.size() - 1); }

// Sums that are promoted leave no registers for an epilogue where a thread holds 128 elements.
bool is_crowded(const TileConfig& s) { return s.scaled && !is_line_scaled(s) && s.tile_n == 256; }

// Time of a tile that has its SM to itself: its mainloop, and the exposed epilogue.
struct TileTime {
  double product = 0, ending = 0;
};

double product_time(const TiledProduct& of) {
  const TileConfig& s = of.config;
  const auto ceiling = of.machine.ceiling(*machine::pipe_from_name(numerics::pipe_name(s.math)));
  const double rate = ceiling.ok() ? ceiling->per_second : 1e9;
  const double work = 2.0 * s.tile_m * s.tile_n * static_cast<double>(of.product.k) * numerics::info(s.math).products;
  return work / (rate / of.machine.sm_count * tile_efficiency(s));
}

double ending_time(const TiledProduct& of) {
  const auto& [program, machine, product, epilogue, s] = of;
  const int columns = columns_of(s);
  const double usual = !s.scaled ? kEpilogueShare : is_crowded(s) ? kCrowdedEpilogue : kScaledEpilogue;
  const double share = !epilogue.resident ? usual : epilogue.is_long() ? kLongWhole : kWholeEpilogue;
  const double instructions =
      epilogue.instructions * share * s.tile_m * columns / (issue_rate(machine).value / machine.sm_count);
  // An epilogue by the copy engine drains at about 6 bytes a clock and SM; line by line at a third of that.
  const double drained =
      (stores_by_copy_engine(program, product, epilogue) ? 2.5e-6 : 7.5e-6) * s.tile_m * columns / (128.0 * 256.0);
  const double stored = epilogue.code.stores.empty() ? 0 : drained;
  // Outputs of a pair beyond the first are stored without the copy engine, which two separate kernels would use.
  const double others =
      s.dual ? 7.5e-6 * static_cast<double>(epilogue.code.stores.size() - 1) * s.tile_m * columns / (128.0 * 256.0) : 0;
  // Sweeps over rows of a whole tile and the exchanges between the blocks of a cluster.
  const double sweeps = epilogue.resident ? sweeps_of(epilogue) * kSweep + (is_line_scaled(s) ? kScaleLines : 0) : 0;
  return stored + others + instructions + sweeps;
}

// Two blocks of the fp32 kernel share an SM, so a round of them takes twice as long as one alone would.
double simt_slowdown(double blocks, double sms) { return blocks > sms ? 2 : 1; }

// Tiles one after another, round by round over the SMs.
double rounds_time(const TiledProduct& of, const TileTime& tile) {
  const TileConfig& s = of.config;
  const bool simt = s.math == Math::kSimt;
  const int64_t blocks = blocks_of_cluster(s);
  const double sms = of.machine.sm_count;
  const int64_t of_batch =
      tiles_with_products(of, int64_t{s.tile_m} * s.cluster, int64_t{columns_of(s)} * s.cluster_n, simt);
  const double tiles = static_cast<double>(of_batch * blocks * of.product.batches);
  if (simt) return std::ceil(tiles / (2 * sms)) * (tile.product * simt_slowdown(tiles, sms) + tile.ending);
  const double rounds = std::ceil(tiles / static_cast<double>(of.machine.clusters_at_once(blocks) * blocks));
  // Blocks with several tiles save power and L2 traffic by loads that two of them share; with one tile, a cluster only
  // starts later.
  const double alone = rounds > 1 && blocks == 1 ? kAlone : 1;
  return rounds * (tile.product * alone + tile.ending);
}

// Whole tiles round by round, and a share of the others.
double shared_time(const StreamK& shared, const TileConfig& s, const TileTime& tile) {
  const double whole = std::floor(static_cast<double>(shared.whole()) / static_cast<double>(shared.clusters));
  const double of_tile = static_cast<double>(shared.shared) / static_cast<double>(shared.workers);
  // Sums of other blocks that the last to end adds to its own.
  const double added = std::max(1.0, std::ceil(1 / of_tile - 1e-9) - 1);
  const bool crowded = is_crowded(s);
  const double handed = (crowded ? kCrowdedFixUp : kFixUp) + (1 + added) * 4.0 * s.tile_m * s.tile_n / kFixUpRate;
  const double walked = whole + of_tile - 1;
  const double apart = crowded ? kApart * std::min(walked, kMostApart) : 0;
  const double alone = walked > 0 && blocks_of_cluster(s) == 1 ? kAlone + apart : 1;
  const double clock = s.scaled && !is_line_scaled(s) ? kPromotedClockShare : kClockShare;
  const double unused = whole > 0 ? std::ceil(of_tile) - of_tile : 0;  // of the last round, were tiles not shared
  return (whole + of_tile + clock * unused) * alone * tile.product + (whole + std::ceil(of_tile)) * tile.ending +
         handed;
}

// Whole rows in fp32: a block takes the tiles of 128 rows one after the other and goes over their sums in memory.
double whole_lines_time(const TiledProduct& of) {
  const Product& c = of.product;
  const TileConfig& s = of.config;
  const double sms = of.machine.sm_count;
  const double blocks = static_cast<double>(ceil_div(c.m, int64_t{s.tile_m}) * c.batches);
  const double tiles = static_cast<double>(ceil_div(c.n, int64_t{s.tile_n}));  // of a block
  const double bytes = 4.0 * static_cast<double>(c.batches * c.m * c.n) * (2 * sweeps_of(of.epilogue) + 2);
  return std::ceil(blocks / (2 * sms)) * simt_slowdown(blocks, sms) * tiles * product_time(of) +
         bytes / of.machine.copy_ceiling().per_second;
}

}  // namespace

double compute_time(const TiledProduct& of) {
  const bool simt = of.config.math == Math::kSimt;
  if (of.epilogue.resident && simt) return whole_lines_time(of);
  const TileTime tile{product_time(of), ending_time(of)};
  const StreamK shared = simt ? StreamK{} : stream_k(of.machine, of.product, of.config);
  return shared.shared > 0 ? shared_time(shared, of.config, tile) : rounds_time(of, tile);
}

// Rows of a box that do not exist are zeros, and take the copy engine as long as those that do: 16 x 8192 x 8192 bf16
// with tiles of 64x64, 128x64 and 64x128.
double existing_share(const Product& c, const TileConfig& s) {
  if (s.math == Math::kSimt) return 1;
  return static_cast<double>(std::min<int64_t>(c.m, s.tile_m) + std::min<int64_t>(c.n, s.tile_n)) /
         (s.tile_m + s.tile_n);
}

}  // namespace solstice::families::tensor_core
