// Persistent tile order: tiles of one batch are walked in groups of `group` row tiles, so that the CTAs at
// work at one time share rows of A and columns of B in L2. Free of PTX.
#pragma once

#include "ptx/types.h"

namespace solstice::scheduler {

struct TileIndex {
  int batch, m, n;  // in tiles
};

struct RasterOrder {
  int rows, columns, group;  // row tiles, column tiles, row tiles a group

  SOLSTICE_DEVICE int per_batch() const { return rows * columns; }

  SOLSTICE_DEVICE TileIndex operator()(int tile) const {
    const int batch = tile / per_batch();
    const int inside = tile - batch * per_batch();
    const int first = inside / (group * columns) * group;
    const int height = smaller(group, rows - first);
    const int rest = inside - first * columns;
    return {batch, first + rest % height, rest / height};
  }
};

}  // namespace solstice::scheduler
