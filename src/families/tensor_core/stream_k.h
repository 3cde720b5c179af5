// Stream-K for the last tiles (the knob `split`): where rounds of tiles do not come out even, clusters share the k of
// the last ones (kernels/scheduler/stream_k.h), and the fix-up adds their sums.
#pragma once

#include <vector>

#include "families/tensor_core/product.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::tensor_core {

inline constexpr int kMostSharing = 128;  // clusters that share a tile

// Counts are of clusters, and of tiles of a cluster.
struct StreamK {
  int64_t tiles = 0;     // all
  int64_t shared = 0;    // of them the last ones; 0: none
  int64_t workers = 0;   // that share them
  int64_t clusters = 0;  // of the launch
  int64_t whole() const { return tiles - shared; }
};

// Up to `split` clusters share each of the tiles after the last whole round. Where even so not all clusters have work,
// those of the round before are shared as well, if there is one.
StreamK stream_k(const machine::Machine& machine, const Product& product, const TileConfig& config);

// Values of `split` worth a trial, besides 1.
std::vector<int> stream_k_splits(const machine::Machine& machine, const Product& product, const TileConfig& config);

}  // namespace solstice::families::tensor_core
