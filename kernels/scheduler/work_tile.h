// What tile schedulers give out. A scheduler is the sequence of tiles of one worker, a block or a cluster:
//
//   template <class F> void for_each(F&& f) const;   // f(tile) for each WorkTile
//
// It is made by every role that needs the sequence, for itself. (As an iterator, with `bool next(WorkTile&)`, the one
// of triangular.h takes up to 28 % more instructions, and registers.) Free of PTX.
#pragma once

#include "scheduler/raster.h"

namespace solstice::scheduler {

struct WorkTile {
  int batch, m, n;       // in tiles of a worker
  int first, last;       // of the tile's stages, those that are this worker's; none: the tile is only written
  int from = 0;          // workers `from` .. the one before this have the stages before `first`
  bool partial = false;  // the sums go to another worker, which has the last stages
};

}  // namespace solstice::scheduler
