// The tiles of a block of a tensor-core product (tensor.h): those that the scheduler gives its cluster, of which it has
// a part.
#pragma once

#include "gemm/tensor_config.h"

namespace solstice::gemm {

template <class Config>
struct TensorTiles {
  using Cluster = typename Config::Cluster;
  static constexpr int kRows = Config::kTileM * Cluster::kShareB, kColumns = Config::kTileN * Cluster::kShareA;

  const Problem& p;
  u32 rank;  // in the cluster

  SOLSTICE_DEVICE int stages() const { return ceil_div(p.k, Config::kStageK); }
  SOLSTICE_DEVICE int worker() const { return blockIdx.x / Cluster::kBlocks; }

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    const scheduler::RasterOrder order{ceil_div(p.m, kRows), ceil_div(p.n, kColumns), p.group};
    const scheduler::Worker own{order, kRows, kColumns, p.batches, stages(), worker(), gridDim.x / Cluster::kBlocks};
    Config::Scheduler::of(own, p).for_each([&](const scheduler::WorkTile& tile) {
      f(scheduler::BlockTile{tile, Cluster::row(tile.m, rank) * Config::kTileM,
                             Cluster::column(tile.n, rank) * Config::kTileN});
    });
  }
};

}  // namespace solstice::gemm
