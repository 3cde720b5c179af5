// Tiles of grouped products: every row belongs to a group, and a group has tiles of its own.
#pragma once

#include "scheduler/split_tail.h"

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

// The tiles of a CTA, one after another. Of a forward product they are counted; the last ones, if they leave enough
// clusters without work, are split along k.
// `Problem`: extents m, n, k, `group` (row tiles walked before the next column), table.groups.
template <class Config, class Problem>
struct Grouped {
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  using Cluster = typename Config::Cluster;
  static constexpr int kBlocks = Cluster::kBlocks;
  static constexpr int kChunk = 4 * Config::kStageK;
  // Stages that adding up takes about as long as, and clusters that share a tile at most.
  static constexpr int kAddingStages = 16, kMostSharing = 4;
  const Problem& p;
  const int* offsets;  // of the groups, in shared memory; then how many tiles there are
  int rank, cluster, t;
  int whole = 0x7fffffff;  // tiles that are not split
  SplitTail tail{0, 1, 0};
  int parts = 0;  // of the last tiles: 0 to begin with, 1 after what is handed on
  int group = -1, begin = 0, end = 0, before = 0, count = 0;
  PairedOrder order{0, 0, 1, false};

  SOLSTICE_DEVICE Grouped(const Problem& problem, const int* offsets_, int rank_)
      : p(problem), offsets(offsets_), rank(rank_), cluster(blockIdx.x / kBlocks), t(cluster) {
    if constexpr (kRows) split(offsets[p.table.groups + 1], gridDim.x / kBlocks);
  }

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) {
    for (GroupTile tile; next(tile);) f(tile);
  }

 private:
  SOLSTICE_DEVICE bool next(GroupTile& out) {
    TilePart part{0, 0, 0, cluster};
    bool partial = false;
    int at = t;
    const bool of_tail = kRows && t >= whole;
    if (of_tail && !next_part(part, partial)) return false;
    if (of_tail) at = whole + part.tile;
    if (!place(at, out)) return false;
    out.from = part.from;
    out.partial = partial;
    if (of_tail) {
      out.first = part.first * kChunk;
      if (partial) out.last = part.last * kChunk;
    } else {
      t += gridDim.x / kBlocks;
    }
    return true;
  }
  // Of the last tiles, first what others wait for.
  SOLSTICE_DEVICE bool next_part(TilePart& out, bool& partial) {
    partial = parts == 0 && tail.partial_of(cluster, out);
    if (!partial && (parts == 2 || !tail.finished(cluster, out))) return false;
    parts = partial ? 1 : 2;
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
    const PairedTile i = order(at - before);
    const bool along_n = Cluster::kShareA > 1 || (kBlocks > 1 && i.along_n);
    const int m0 = (i.m * Cluster::kShareB + (along_n ? 0 : rank)) * Config::kTileM;
    const int n0 = (i.n * Cluster::kShareA + (along_n ? rank : 0)) * Config::kN;
    out = kRows ? GroupTile{group, begin + m0, n0, end, 0, p.k, cluster, false, along_n}
                : GroupTile{group, m0, n0, p.m, begin, end, cluster, false, along_n};
    return true;
  }
};

}  // namespace solstice::scheduler
