// Tiles of a persistent kernel of which the last ones are shared: where rounds of whole tiles do not come out even, the
// stages of the tiles behind the last whole round, numbered tile by tile, are shared out evenly among all workers
// (clusters), so that all end together (Osama et al., "Stream-K", PPoPP 2023, with whole tiles first). Free of PTX.
//
// A worker's stages follow each other. It goes through its tiles from the last to the first: what it has of the last
// one, unless it reaches that tile's end, is handed on to the worker that has the end, which adds up what others found,
// in the order of their numbers, and writes the tile. So a worker hands on once at most, before it waits for anyone,
// and waits for workers of lower numbers alone: blocks that start in the order of their numbers never wait for one that
// cannot start. CUDA does not promise this order; where all blocks are resident, as planned, it does not matter.
#pragma once

#include "scheduler/work_tile.h"

namespace solstice::scheduler {

struct StreamKTiles {
  int whole;    // tiles before the shared ones
  int tiles;    // shared ones
  int workers;  // that share them: at most tiles x stages

  SOLSTICE_DEVICE bool any() const { return tiles > 0; }
  // First stage of a worker: all * worker / workers, in 32 bits.
  SOLSTICE_DEVICE int begins(int worker, int stages) const {
    const int all = tiles * stages;
    return all / workers * worker + all % workers * worker / workers;
  }
};

// Stages first .. last - 1 of tile number `tile`; the other members as in WorkTile.
struct StreamKShare {
  int tile, first, last, from;
  bool partial;
};

// The sequence of one of `workers`: whole tiles in turns, then its share of the others.
struct StreamKWalk {
  StreamKTiles shared;
  int stages, worker, step;
  int t, begin, end;  // next whole tile; stages of the shared ones that are left

  SOLSTICE_DEVICE StreamKWalk(const StreamKTiles& of, int stages_, int worker_, int workers)
      : shared(of), stages(stages_), worker(worker_), step(workers), t(worker_), begin(0), end(0) {
    if (worker < shared.workers) begin = shared.begins(worker, stages), end = shared.begins(worker + 1, stages);
  }

  SOLSTICE_DEVICE bool next(StreamKShare& out) {
    if (t < shared.whole) {
      out = {t, 0, stages, worker, false};
      t += step;
      return true;
    }
    if (begin >= end) return false;
    const int tile = (end - 1) / stages, start = tile * stages, first = larger(begin, start);
    out = {shared.whole + tile, first - start, end - start, worker, end - start < stages};
    if (!out.partial) {
      while (shared.begins(out.from, stages) > start) --out.from;
    }
    end = first;
    return true;
  }
};

struct StreamK {
  static constexpr bool kMayBeEmpty = false, kShares = true;

  Worker worker;
  StreamKTiles shared;

  // `Problem`: StreamKTiles shared.
  template <class Problem>
  SOLSTICE_DEVICE static StreamK of(const Worker& worker, const Problem& p) {
    return {worker, p.shared};
  }

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    StreamKWalk walk(shared, worker.stages, worker.number, worker.count);
    for (StreamKShare share; walk.next(share);) {
      const TileIndex i = worker.order(share.tile);
      f(WorkTile{i.batch, i.m, i.n, share.first, share.last, share.from, share.partial});
    }
  }
};
static_assert(TileScheduler<StreamK>);

}  // namespace solstice::scheduler
