// Whole tiles in turns: worker w of `step` takes tiles w, w + step, ... Free of PTX.
#pragma once

#include "scheduler/work_tile.h"

namespace solstice::scheduler {

struct Persistent {
  RasterOrder order;
  int batches, stages, worker;
  u32 workers;

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    const int count = order.per_batch() * batches;
    for (int tile = worker; tile < count; tile += workers) {
      const TileIndex i = order(tile);
      f(WorkTile{i.batch, i.m, i.n, 0, stages});
    }
  }
};

}  // namespace solstice::scheduler
