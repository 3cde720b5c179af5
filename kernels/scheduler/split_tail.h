// Parts of the scheduler of grouped products (grouped.h): pairs of columns for clusters, and the last tiles split along
// k. Free of PTX.
#pragma once

#include "ptx/types.h"

namespace solstice::scheduler {

// Tiles for clusters of blocks that lie along m, two columns at a time. A last row tile that is too low for a cluster
// (`low`) gives each of two blocks a column of its own instead.
struct PairedTile {
  int m, n;      // in row tiles of a cluster, in columns
  bool along_n;  // the blocks take columns n, n + 1
};

struct PairedOrder {
  int rows, columns, group;  // whole row tiles of a cluster, column tiles, row tiles a group
  bool low;                  // one more row tile

  SOLSTICE_DEVICE int count() const { return rows * columns + (low ? ceil_div(columns, 2) : 0); }

  SOLSTICE_DEVICE PairedTile operator()(int tile) const {
    const int last = larger(1, ceil_div(rows, group)) - 1, at = smaller(tile / (group * columns), last);
    const int inside = tile - at * group * columns, height = smaller(group, rows - at * group);
    const int of_pair = 2 * height + (low && at == last ? 1 : 0);
    const int n = inside / of_pair * 2, rest = inside % of_pair;
    if (rest >= smaller(2, columns - n) * height) return {rows, n, true};
    return {at * group + rest % height, n + rest / height, false};
  }
};

// The last tiles of a persistent kernel, where they are fewer than its workers: chunks of their k, numbered tile by
// tile, are shared out, so that all end together. A worker has chunks of at most two tiles: the end of one, which it
// finishes, and chunks of the next that it hands on to the worker that finishes that one.
struct TilePart {
  int tile, first, last;  // chunks first .. last - 1 of the tile
  int from;               // workers `from` .. the one before this have the chunks before `first`
};

struct SplitTail {
  int tiles, chunks, workers;  // chunks of each tile; tiles <= workers <= tiles * chunks < 2^31

  // All chunks * worker / workers, in 32 bits.
  SOLSTICE_DEVICE int first(int worker) const {
    const int all = tiles * chunks;
    return all / workers * worker + all % workers * worker / workers;
  }
  SOLSTICE_DEVICE bool partial_of(int worker, TilePart& out) const {
    const int last = first(worker + 1), tile = last / chunks, begins = tile * chunks;
    if (worker >= workers || last == begins) return false;
    out = {tile, larger(0, first(worker) - begins), last - begins, worker};
    return true;
  }
  SOLSTICE_DEVICE bool finished(int worker, TilePart& out) const {
    const int tile = first(worker + 1) / chunks - 1, begins = tile * chunks;
    if (worker >= workers || first(worker) >= begins + chunks) return false;
    int from = worker;
    while (first(from) > begins) --from;
    out = {tile, first(worker) - begins, chunks, from};
    return true;
  }
};

}  // namespace solstice::scheduler
