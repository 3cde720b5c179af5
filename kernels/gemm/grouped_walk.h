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
  static constexpr bool kAlongN = kAlongN_;  // blocks of a cluster lie along n; else along m, but where rows end
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
  bool along_n;     // blocks of a cluster lie along n and share A; else along m, and share B
};

// The tiles of a CTA, one after another.
template <class Config>
struct GroupWalk {
  static constexpr bool kRows = Config::kRagged == Ragged::kRows, kAlongN = Config::kAlongN;
  static constexpr int kBlocks = Config::kCluster, kAlongM = kAlongN ? 1 : kBlocks;
  const GroupedProblem& p;
  const int* offsets;  // of the groups, in shared memory
  int rank, t;
  int group = -1, begin = 0, end = 0, count = 0;
  PairedOrder order{0, 0, 1, false};

  SOLSTICE_DEVICE GroupWalk(const GroupedProblem& problem, const int* offsets_, int rank_)
      : p(problem), offsets(offsets_), rank(rank_), t(blockIdx.x / Config::kCluster) {}

  SOLSTICE_DEVICE bool next(GroupTile& out) {
    while (t >= count) {
      t -= count;
      if (++group >= p.table.groups) return false;
      begin = offsets[group];
      end = offsets[group + 1];
      enter_group();
    }
    const PairedTile i = order(t);
    t += gridDim.x / kBlocks;
    const bool along_n = kBlocks > 1 && (kAlongN || i.along_n);
    const int m0 = (i.m * kAlongM + (along_n ? 0 : rank)) * Config::kTileM;
    const int n0 = (i.n * (kAlongN ? kBlocks : 1) + (along_n ? rank : 0)) * Config::kN;
    out = kRows ? GroupTile{group, begin + m0, n0, end, 0, p.k, along_n} : GroupTile{group, m0, n0, p.m, begin, end, along_n};
    return true;
  }

 private:
  SOLSTICE_DEVICE void enter_group() {
    constexpr int kHeight = Config::kTileM * kAlongM;
    const int rows = kRows ? end - begin : p.m, rest = rows % kHeight;
    const bool low = kAlongM > 1 && rest > 0 && rest <= Config::kTileM;
    order = {rows / kHeight + (rest > 0 && !low), ceil_div(p.n, Config::kN * (kAlongN ? kBlocks : 1)), p.group, low};
    count = order.count();
  }
};

}  // namespace solstice::gemm
