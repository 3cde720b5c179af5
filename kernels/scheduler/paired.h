// Tiles of one group of a grouped product (grouped.h) in the order of clusters: pairs of columns. Free of PTX.
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

}  // namespace solstice::scheduler
