// The layout of a cluster's blocks: along m they share B, along n they share A. Every kBlocks tiles of a block are one
// of the cluster.
#pragma once

#include "ptx/types.h"

namespace solstice::gemm {

template <int kBlocks_>
struct AlongM {
  static constexpr int kBlocks = kBlocks_, kShareA = 1, kShareB = kBlocks;

  // Of block `rank`, in its tiles, of a tile of the cluster.
  SOLSTICE_DEVICE static int row(int m, u32 rank) { return m * kBlocks + (kBlocks > 1 ? static_cast<int>(rank) : 0); }
  SOLSTICE_DEVICE static int column(int n, u32) { return n; }
};
template <int kBlocks_>
struct AlongN {
  static constexpr int kBlocks = kBlocks_, kShareA = kBlocks, kShareB = 1;

  SOLSTICE_DEVICE static int row(int m, u32) { return m; }
  SOLSTICE_DEVICE static int column(int n, u32 rank) {
    return n * kBlocks + (kBlocks > 1 ? static_cast<int>(rank) : 0);
  }
};

}  // namespace solstice::gemm
