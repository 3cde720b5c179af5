#include "families/tensor_core/stream_k.h"

#include <algorithm>

#include "base/integer.h"

namespace solstice::families::tensor_core {
namespace {

int64_t tiles_of(const Product& c, const TileConfig& s) {
  return ceil_div(c.m, s.tile_m * s.cluster) * ceil_div(c.n, columns_of(s) * s.cluster_n) * c.batches;
}

}  // namespace

StreamK stream_k(const machine::Machine& machine, const Product& c, const TileConfig& s) {
  const int64_t most = machine.clusters_at_once(blocks_of_cluster(s));
  const int64_t pieces = std::min<int64_t>(s.split, ceil_div(c.k, stage_k(s.math)));  // of a tile
  StreamK out;
  out.tiles = tiles_of(c, s);
  out.clusters = std::min(out.tiles, most);
  const int64_t rest = out.tiles % most;
  if (rest == 0 || pieces < 2) return out;
  const bool enough = rest * pieces >= most;
  out.shared = enough || out.tiles < most ? rest : rest + most;
  out.workers = std::min(most, out.shared * pieces);
  out.clusters = std::max(out.clusters, out.workers);
  return out;
}

std::vector<int> stream_k_splits(const machine::Machine& machine, const Product& c, const TileConfig& s) {
  TileConfig trial = s;
  trial.split = kMostSharing;
  const StreamK plan = stream_k(machine, c, trial);
  if (plan.shared == 0) return {};
  if (plan.tiles > plan.clusters) {
    // As many tiles as give every cluster a share of the last round, if they are few; else the last two rounds.
    const int64_t rest = plan.tiles % plan.clusters, sharing = ceil_div(plan.clusters, rest);
    return sharing <= 8 && sharing > 2 ? std::vector<int>{static_cast<int>(sharing), 2} : std::vector<int>{2};
  }
  std::vector<int> out;
  for (int split = 2; split <= 32 && split < 2 * ceil_div(plan.workers, plan.tiles); split *= 2) out.push_back(split);
  return out;
}

}  // namespace solstice::families::tensor_core
