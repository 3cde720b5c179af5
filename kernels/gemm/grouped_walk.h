// What a grouped product is, how a block is laid out, and the tiles it takes (grouped.h).
#pragma once

#include "epilogue/staged.h"
#include "gemm/gather.h"
#include "pipeline/ring.h"
#include "scheduler/grouped.h"

namespace solstice::gemm {

enum class Ragged { kRows, kK };

template <class Type_, Ragged kRagged_, mma::Major kMajorB_, int kN_, int kSlots_, int kCluster_, bool kAlongN_>
struct GroupedConfig {
  using Type = Type_;
  static constexpr Ragged kRagged = kRagged_;
  static constexpr mma::Major kMajorA = kRagged == Ragged::kRows ? mma::Major::kK : mma::Major::kMN, kMajorB = kMajorB_;
  static constexpr int kN = kN_, kCluster = kCluster_;
  static constexpr int kShareA = kAlongN_ ? kCluster : 1, kShareB = kAlongN_ ? 1 : kCluster;
  static constexpr int kTileM = 128, kStageK = 64;
  static constexpr int kThreads = 384;
  static constexpr int kPlaneA = kTileM * mma::kRowBytes, kPlaneB = kN * mma::kRowBytes;
  using Slots = Ring<kSlots_, kPlaneA + kPlaneB>;

  // Shared memory, in this order; then offsets of the groups.
  static constexpr int kOffsetStaging = Slots::kBytes;
  static constexpr int kOffsetBarriers = kOffsetStaging + 8 * kStageBuffers * kStageBytes;
  static constexpr int kOffsetGroups = kOffsetBarriers + Slots::kBarrierBytes;
  static constexpr int kSharedBytes = kOffsetGroups;
  static_assert(kRagged == Ragged::kRows || kMajorB == mma::Major::kMN, "a gradient's operands are contiguous in their lines");
};

struct GroupedProblem {
  int m, n, k;  // extents; of what is ragged, over all groups
  int group;    // row tiles (of a cluster) walked before the next column of tiles
  GroupTable table;
  GatheredOperand a, b;  // `b` of a gradient
};

struct GroupTile {
  int group, m0, n0;
  int m;            // end of the rows
  int first, last;  // of k
};

// The tiles of a CTA, one after another.
template <class Config>
struct GroupWalk {
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  const GroupedProblem& p;
  const int* offsets;  // of the groups, in shared memory
  int rank, t;
  int group = -1, begin = 0, end = 0;
  GroupedOrder tiles{0, 0, 1};

  SOLSTICE_DEVICE GroupWalk(const GroupedProblem& problem, const int* offsets_, int rank_)
      : p(problem), offsets(offsets_), rank(rank_), t(blockIdx.x / Config::kCluster) {}

  SOLSTICE_DEVICE bool next(GroupTile& out) {
    while (t >= tiles.per_batch()) {
      t -= tiles.per_batch();
      if (++group >= p.table.groups) return false;
      begin = offsets[group];
      end = offsets[group + 1];
      tiles = {ceil_div(kRows ? end - begin : p.m, Config::kTileM * Config::kShareB), ceil_div(p.n, Config::kN * Config::kShareA), p.group};
    }
    const TileIndex i = tiles(t);
    t += gridDim.x / Config::kCluster;
    const int m0 = (i.m * Config::kShareB + (Config::kShareB > 1 ? rank : 0)) * Config::kTileM;
    const int n0 = (i.n * Config::kShareA + (Config::kShareA > 1 ? rank : 0)) * Config::kN;
    out = kRows ? GroupTile{group, begin + m0, n0, end, 0, p.k} : GroupTile{group, m0, n0, p.m, begin, end};
    return true;
  }
};

}  // namespace solstice::gemm
