// Tiles of grouped products: every row belongs to a group, and a group has tiles of its own.
#pragma once

#include "scheduler/paired.h"
#include "scheduler/stream_k.h"

namespace solstice::scheduler {

enum class Ragged { kRows, kK };  // what the groups divide: rows of the result, or k

struct alignas(16) GroupTile {
  int group, m0, n0;
  int m;            // end of the rows
  int first, last;  // of k
  // Of a last tile, whose k clusters share: the first whose sums are added to those of this one (its own number: none),
  // or that these sums go to another.
  int from;
  bool partial;
  bool along_n;  // blocks of a cluster lie along n and share A; else along m, and share B
};

static_assert(sizeof(GroupTile) == 32);

// Tiles of one group for clusters.
template <class Config, class Problem>
SOLSTICE_DEVICE PairedOrder order_of_group(const Problem& p, int rows) {
  using Cluster = typename Config::Cluster;
  constexpr int kHeight = Config::kTileM * Cluster::kShareB;
  const int rest = rows % kHeight;
  const bool low = Cluster::kShareB > 1 && rest > 0 && rest <= Config::kTileM;
  return {rows / kHeight + (rest > 0 && !low), ceil_div(p.n, Config::kN * Cluster::kShareA), p.group, low};
}

// Finds tiles by their number, group after group.
template <class Config, class Problem>
struct GroupWalk {
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  using Cluster = typename Config::Cluster;

  const Problem& p;
  const int* offsets;  // of the groups
  int rank;
  int group = -1, begin = 0, end = 0, before = 0, count = 0;
  PairedOrder order{0, 0, 1, false};

  // Tile `at` of all, whole; `cluster` takes it.
  SOLSTICE_DEVICE bool find(int at, int cluster, GroupTile& out) {
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
    const PairedTile i = order(at - before);
    const bool along_n = Cluster::kShareA > 1 || (Cluster::kBlocks > 1 && i.along_n);
    const int m0 = (i.m * Cluster::kShareB + (along_n ? 0 : rank)) * Config::kTileM;
    const int n0 = (i.n * Cluster::kShareA + (along_n ? rank : 0)) * Config::kN;
    out = kRows ? GroupTile{group, begin + m0, n0, end, 0, p.k, cluster, false, along_n}
                : GroupTile{group, m0, n0, p.m, begin, end, cluster, false, along_n};
    return true;
  }
};

// The tiles of a block, one after another. Of a forward product they are counted; the last ones, if they leave enough
// clusters without work, are shared out (stream_k.h) in chunks of k.
// `Problem`: extents m, n, k, `group` (row tiles walked before the next column), table.groups.
template <class Config, class Problem>
struct Grouped {
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  static constexpr int kBlocks = Config::Cluster::kBlocks, kChunk = 4 * Config::kStageK;
  // Stages that adding up takes about as long as, and clusters that share a tile at most.
  static constexpr int kAddingStages = 16, kMostSharing = 4;

  const Problem& p;
  const int* offsets;  // of the groups, in shared memory; then how many tiles there are
  int rank;            // in the cluster

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    const int cluster = blockIdx.x / kBlocks, clusters = gridDim.x / kBlocks;
    StreamKWalk walk(shared(clusters), ceil_div(p.k, kChunk), cluster, clusters);
    GroupWalk<Config, Problem> groups{p, offsets, rank};
    GroupTile tile;
    for (StreamKShare share; walk.next(share) && groups.find(share.tile, cluster, tile);) {
      tile.from = share.from;
      tile.partial = share.partial;
      if (kRows) tile.first = share.first * kChunk;
      if (share.partial) tile.last = share.last * kChunk;
      f(tile);
    }
  }

 private:
  SOLSTICE_DEVICE StreamKTiles shared(int clusters) const {
    constexpr int kAll = 0x7fffffff;  // however many there are
    if (!kRows) return {kAll, 0, 0};
    const int tiles = offsets[p.table.groups + 1], rest = tiles % clusters, stages = ceil_div(p.k, Config::kStageK),
              workers = smaller(clusters, rest * smaller(kMostSharing, ceil_div(p.k, kChunk)));
    if (rest == 0 || rest * stages / workers + kAddingStages >= stages) return {kAll, 0, 0};
    return {tiles - rest, rest, workers};
  }
};

}  // namespace solstice::scheduler
