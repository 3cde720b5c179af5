// `split` of a product in tiles on the tensor cores: where rounds of tiles do not come out even, blocks share the k of
// the last ones (kernels/scheduler/stream_k.h).
#pragma once

#include <vector>

#include "families/gemm/settings.h"

namespace solstice::families::gemm {

inline constexpr int kMostSharing = 128;  // clusters that share a tile

// Counts are of clusters, and of tiles of a cluster.
struct SharedPlan {
  int64_t tiles = 0;     // all
  int64_t shared = 0;    // of them the last ones; 0: none
  int64_t workers = 0;   // that share them
  int64_t clusters = 0;  // of the launch
  int64_t whole() const { return tiles - shared; }
};

// Up to `split` clusters share each of the tiles behind the last whole round. Where even so not all clusters have work,
// those of the round before are shared as well, if there is one.
SharedPlan shared_plan(const Context& context, const Problem& problem, const Settings& settings);

// Values of `split` that are worth looking at beside 1.
std::vector<int> shared_splits(const Context& context, const Problem& problem, const Settings& settings);

}  // namespace solstice::families::gemm
