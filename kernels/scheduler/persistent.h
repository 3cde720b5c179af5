// Whole tiles in turns: worker w of `count` takes tiles w, w + count, ... Free of PTX.
#pragma once

#include "scheduler/work_tile.h"

namespace solstice::scheduler {

struct Persistent {
  static constexpr bool kMayBeEmpty = false, kShares = false;

  Worker worker;

  template <class Problem>
  SOLSTICE_DEVICE static Persistent of(const Worker& worker, const Problem&) {
    return {worker};
  }

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    const int count = worker.order.per_batch() * worker.batches;
    for (int tile = worker.number; tile < count; tile += worker.count) {
      const TileIndex i = worker.order(tile);
      f(WorkTile{i.batch, i.m, i.n, 0, worker.stages});
    }
  }
};
static_assert(TileScheduler<Persistent>);

}  // namespace solstice::scheduler
