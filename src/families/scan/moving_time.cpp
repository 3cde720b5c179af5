#include "families/scan/moving_time.h"

#include <algorithm>
#include <cmath>

#include "families/emission.h"

namespace solstice::families::scan {
namespace {

// Fitted to `bench families` on an H200 (docs/measured/families.md), as the others here.
constexpr BytesPerSecond kUsualRate{4.29e12};  // of copying, where the machine says none

// The share of the copy rate that whole tiles reach.
double share_of(const Shape& shape) {
  if (shape.nest.vector == 1) return shape.by_columns ? 0.85 : 0.88;
  return shape.nest.shifted || shape.nest.vector == 2 ? 0.95 : 0.98;
}

Seconds grid_time(const Shape& shape, Seconds all, double tile_share) {
  constexpr Seconds kRound{0.85e-6};  // without its data, with one block an SM
  const Seconds round = all * (tile_share * static_cast<double>(shape.grid)) + kRound;
  return round * static_cast<double>(shape.rounds());
}

// `all`: what the data take at the rate of all SMs; `tile_share`: a tile's share of them. Blocks walk their rows side
// by side, as many as fit; those of the last, partial wave have more of the machine each.
Seconds walk_time(const Shape& shape, const machine::Machine& machine, Seconds all, double tile_share) {
  constexpr double kThreads = 1024;  // of an SM, with the registers that a tile takes
  constexpr double kAlone = 2.25;    // one SM's rate over its share of the machine's
  constexpr Seconds kBetweenTiles{0.42e-6};
  const double sms = std::max(machine.sm_count, 1), blocks = static_cast<double>(shape.blocks());
  const double fit = sms * std::max(1.0, kThreads / shape.threads), whole = std::floor(blocks / fit);
  const auto step = [&](double together) {
    const Seconds tile = all * (tile_share * std::max(std::min(sms, together), sms / kAlone));
    return std::max(tile * std::ceil(together / sms), tile + kBetweenTiles);
  };
  const double rest = blocks - whole * fit;
  return (step(fit) * whole + (rest > 0 ? step(rest) : Seconds{})) * static_cast<double>(shape.tiles());
}

}  // namespace

Seconds moving_time(const ir::Program& program, const Shape& shape, const machine::Machine& machine) {
  const Result<BytesPerSecond> copy = copy_rate(machine);
  const Seconds all =
      codegen::traffic_of(program, shape.nest.flat) / (copy.ok() ? *copy : kUsualRate) / share_of(shape);
  const double elements = static_cast<double>(shape.tile()) * shape.nest.vector *
                          (shape.grid > 0 && !shape.by_columns ? 1 : shape.rows_per_block());
  const double tile_share = std::min(1.0, elements / static_cast<double>(shape.nest.points));
  return shape.grid > 0 ? grid_time(shape, all, tile_share) : std::max(all, walk_time(shape, machine, all, tile_share));
}

}  // namespace solstice::families::scan
