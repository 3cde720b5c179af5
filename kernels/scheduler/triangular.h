// Tiles of a result of which products are needed in a half-plane alone: those with products are shared out evenly, then
// those without, which are only written. Free of PTX.
#pragma once

#include "scheduler/work_tile.h"

namespace solstice::scheduler {

// Rows and columns with m * row + n * column + base >= 0; all such sums fit an int.
struct HalfPlane {
  int m, n, base;

  // The same in tiles of so many rows and columns: those that have any element of it.
  SOLSTICE_DEVICE HalfPlane in_tiles(int rows, int columns) const {
    return {m * rows, n * columns, base + (m > 0 ? m * (rows - 1) : 0) + (n > 0 ? n * (columns - 1) : 0)};
  }
};

struct RowRange {
  int first, last;  // of the rows first .. last - 1
};

// Rows 0 .. height - 1 behind `row` that lie in the half-plane.
SOLSTICE_DEVICE RowRange rows_within(const HalfPlane& plane, int row, int column, int height) {
  const int c = plane.m * row + plane.n * column + plane.base;
  if (plane.m > 0) return {c >= 0 ? 0 : smaller(height, (-c + plane.m - 1) / plane.m), height};
  if (c < 0) return {0, 0};
  return {0, plane.m == 0 ? height : smaller(height, c / -plane.m + 1)};
}

// Every `workers`-th tile, of those with products, then of the others. In the order of RasterOrder, but found a column
// of a group at a time: dividing a number for each tile would take longer than some tiles do.
struct Triangular {
  static constexpr bool kMayBeEmpty = true, kShares = false;

  Worker worker;
  HalfPlane tiles;  // those that need products

  // `Problem`: HalfPlane needed, in elements.
  template <class Problem>
  SOLSTICE_DEVICE static Triangular of(const Worker& worker, const Problem& p) {
    return {worker, p.needed.in_tiles(worker.rows, worker.columns)};
  }

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    const RasterOrder& order = worker.order;
    const int step = static_cast<int>(worker.count);
    int turn = worker.number;  // tiles until the next one
    for (int pass = 0; pass < 2; ++pass) {
      for (int batch = 0; batch < worker.batches; ++batch) {
        for (int row = 0; row < order.rows; row += order.group) {
          const int height = smaller(order.group, order.rows - row);
          for (int column = 0; column < order.columns; ++column) {
            const RowRange has = rows_within(tiles, row, column, height);
            const int before = pass == 0 ? 0 : has.first, inside = has.last - has.first,
                      count = pass == 0 ? inside : height - inside;
            for (; turn < count; turn += step) {
              const int skipped = pass == 0 ? has.first : turn < before ? 0 : inside;
              f(WorkTile{batch, row + skipped + turn, column, 0, pass == 0 ? worker.stages : 0});
            }
            turn -= count;
          }
        }
      }
    }
  }
};
static_assert(TileScheduler<Triangular>);

}  // namespace solstice::scheduler
