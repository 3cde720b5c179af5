// Tile schedulers: the sequence of tiles of one worker, a block or a cluster. All have one function:
//
//   template <class F> void for_each(F&& f) const;   // f(tile) for each tile: the concept TileScheduler
//
// and every role that needs the sequence makes the scheduler for itself. (As an iterator, with `bool next(Tile&)`, the
// one of triangular.h takes up to 28 % more instructions, and registers.) Those of products whose tiles a formula gives
// (persistent.h, triangular.h, stream_k.h) give WorkTiles, and also have
//
//   static constexpr bool kMayBeEmpty;               // a tile may have no stages: it is only written
//   static constexpr bool kShares;                   // a tile's stages may be several workers'
//   template <class Problem> static Scheduler of(const Worker& worker, const Problem& p);
//
// The tiles of grouped products (grouped.h) are GroupTiles. Finding them takes time, so the producer alone does, and
// tells the consumers through shared memory; what they are told is a sequence with the same for_each
// (gemm/grouped_block.h). Free of PTX.
#pragma once

#include "scheduler/raster.h"

namespace solstice::scheduler {

// Number `number` of `count` workers.
struct Worker {
  RasterOrder order;
  int rows, columns;  // elements of a worker's tile
  int batches, stages, number;
  u32 count;
};

struct WorkTile {
  int batch, m, n;       // in tiles of a worker
  int first, last;       // of the tile's stages, those that are this worker's; none: the tile is only written
  int from = 0;          // workers `from` .. the one before this have the stages before `first`
  bool partial = false;  // the sums go to another worker, which has the last stages
};

// One block's part of a tile, where a worker is a cluster; its first row and column.
struct BlockTile : WorkTile {
  int m0, n0;
};

template <class Scheduler, class Tile = WorkTile>
concept TileScheduler = requires(const Scheduler& tiles, void (&f)(const Tile&)) {
  tiles.for_each(f);
};

}  // namespace solstice::scheduler
