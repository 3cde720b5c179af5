// What a grouped product is, how a block is laid out, and the tiles it takes (grouped.h).
#pragma once

#include "epilogue/staged.h"
#include "gemm/gather.h"
#include "pipeline/ring.h"
#include "scheduler/grouped.h"

namespace solstice::gemm {

enum class Ragged { kRows, kK };
inline constexpr int kToldBytes = 32;  // of a GroupTile

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
  using Slots = pipeline::Ring<kSlots_, kPlaneA + kPlaneB>;

  // The producer tells the consumers of a tile: one place more than slots, since a release may overtake loads
  // (tensor.h).
  static constexpr int kTold = kSlots_ + 1;

  // Shared memory, in this order; then offsets of the groups.
  static constexpr int kOffsetStaging = Slots::kBytes;
  static constexpr int kOffsetBarriers = kOffsetStaging + 8 * kStageBuffers * kStageBytes;
  static constexpr int kOffsetTold = kOffsetBarriers + Slots::kBarriersBytes;
  static constexpr int kOffsetGroups = kOffsetTold + kTold * kToldBytes;
  static constexpr int kSharedBytes = kOffsetGroups;
  static_assert(kRagged == Ragged::kRows || kMajorB == mma::Major::kMN,
                "a gradient's operands are contiguous in their lines");
};

struct GroupedProblem {
  int m, n, k;  // extents; of what is ragged, over all groups
  int group;    // row tiles (of a cluster) walked before the next column of tiles
  GroupTable table;
  GatheredOperand a, b;  // `b` of a gradient
  float* partials;       // of the last tiles of a forward product, a tile for each block
};

struct alignas(16) GroupTile {
  int group, m0, n0;
  int m;            // end of the rows
  int first, last;  // of k
  // Of a last tile, whose k clusters share: the first whose sums are added to those of this one (its own number: none),
  // or that these sums are handed on to another.
  int from;
  bool hands_on;
  bool along_n;  // blocks of a cluster lie along n and share A; else along m, and share B
};

static_assert(sizeof(GroupTile) == kToldBytes);

// Tiles of one group for clusters.
template <class Config>
SOLSTICE_DEVICE scheduler::PairedOrder order_of_group(const GroupedProblem& p, int rows) {
  constexpr int kAlongM = Config::kAlongN ? 1 : Config::kCluster, kHeight = Config::kTileM * kAlongM;
  const int rest = rows % kHeight;
  const bool low = kAlongM > 1 && rest > 0 && rest <= Config::kTileM;
  return {rows / kHeight + (rest > 0 && !low), ceil_div(p.n, Config::kN * (Config::kCluster / kAlongM)), p.group, low};
}

// The tiles of a CTA, one after another. Of a forward product they are counted; the last ones, if they leave enough
// clusters without work, are split along k.
template <class Config>
struct GroupWalk {
  static constexpr bool kRows = Config::kRagged == Ragged::kRows, kAlongN = Config::kAlongN;
  static constexpr int kBlocks = Config::kCluster, kAlongM = kAlongN ? 1 : kBlocks;
  static constexpr int kChunk = 4 * Config::kStageK;
  // Stages that adding up takes about as long as, and clusters that share a tile at most.
  static constexpr int kAddingStages = 16, kMostSharing = 4;
  const GroupedProblem& p;
  const int* offsets;  // of the groups, in shared memory; then how many tiles there are
  int rank, cluster, t;
  int whole = 0x7fffffff;  // tiles that are not split
  scheduler::SplitTail tail{0, 1, 0};
  int parts = 0;  // of the last tiles: 0 to begin with, 1 after what is handed on
  int group = -1, begin = 0, end = 0, before = 0, count = 0;
  scheduler::PairedOrder order{0, 0, 1, false};

  SOLSTICE_DEVICE GroupWalk(const GroupedProblem& problem, const int* offsets_, int rank_)
      : p(problem), offsets(offsets_), rank(rank_), cluster(blockIdx.x / kBlocks), t(cluster) {
    if constexpr (kRows) split(offsets[p.table.groups + 1], gridDim.x / kBlocks);
  }

  SOLSTICE_DEVICE bool next(GroupTile& out) {
    scheduler::TilePart part{0, 0, 0, cluster};
    bool hands_on = false;
    int at = t;
    const bool of_tail = kRows && t >= whole;
    if (of_tail && !next_part(part, hands_on)) return false;
    if (of_tail) at = whole + part.tile;
    if (!place(at, out)) return false;
    out.from = part.from;
    out.hands_on = hands_on;
    if (of_tail) {
      out.first = part.first * kChunk;
      if (hands_on) out.last = part.last * kChunk;
    } else {
      t += gridDim.x / kBlocks;
    }
    return true;
  }

 private:
  // Of the last tiles, first what others wait for.
  SOLSTICE_DEVICE bool next_part(scheduler::TilePart& out, bool& hands_on) {
    hands_on = parts == 0 && tail.handed_on(cluster, out);
    if (!hands_on && (parts == 2 || !tail.finished(cluster, out))) return false;
    parts = hands_on ? 1 : 2;
    return true;
  }
  SOLSTICE_DEVICE void split(int tiles, int clusters) {
    const int rest = tiles % clusters, stages = ceil_div(p.k, Config::kStageK),
              workers = smaller(clusters, rest * smaller(kMostSharing, ceil_div(p.k, kChunk)));
    if (rest == 0 || rest * stages / workers + kAddingStages >= stages) return;
    whole = tiles - rest;
    tail = {rest, ceil_div(p.k, kChunk), workers};
  }

  // Tile `at` of all, whole.
  SOLSTICE_DEVICE bool place(int at, GroupTile& out) {
    if (at < before) group = -1, before = count = 0;
    while (at >= before + count) {
      before += count;
      count = 0;
      if (++group >= p.table.groups) return false;
      begin = offsets[group];
      end = offsets[group + 1];
      order = order_of_group<Config>(p, kRows ? end - begin : p.m);
      count = order.count();
    }
    const scheduler::PairedTile i = order(at - before);
    const bool along_n = kBlocks > 1 && (kAlongN || i.along_n);
    const int m0 = (i.m * kAlongM + (along_n ? 0 : rank)) * Config::kTileM;
    const int n0 = (i.n * (kAlongN ? kBlocks : 1) + (along_n ? rank : 0)) * Config::kN;
    out = kRows ? GroupTile{group, begin + m0, n0, end, 0, p.k, cluster, false, along_n}
                : GroupTile{group, m0, n0, p.m, begin, end, cluster, false, along_n};
    return true;
  }
};

}  // namespace solstice::gemm
