// Tiles as an epilogue sees them: 16 rows of a result, which a warp has in its accumulators, and as many columns from
// n0 on as the accumulators have. The rows may be any lines of the result: a line is what the generated epilogue is
// given as m, with the batch. A tile (the concept RowTile) promises
//
//   static constexpr bool kIsBox;     // its rows are always a box that the copy engine writes, which leaves out what
//                                     // lies outside; else is_box() says whether these are
//   u32 staging;                      // shared address of the warp's two staging buffers (staged.h)
//   int lane;                         // of the thread
//   int batch, n0, n;                 // of all rows: the batch, the first column, the columns of the result
//   int row(int i) const;             // of the thread's element i = 0..3 of eight columns: its row, 0..15,
//   int column(int step, int j, int i) const;   // and its column in eight columns j of 32 columns `step`
//   int own_line(int i) const;        // its line; of rows that the tile does not have, any value
//   int last_line() const;            // lines above are not the tile's
//   int line(int r) const;            // of row r; called by the whole warp
//   bool has_line(int r) const;       // row r is the tile's
//   bool is_box() const;
//   void store_box(const TensorMap* map, int n, u32 buffer) const;   // its rows, from column n on, by the copy engine
//
// Tiles are small and copied; nothing is asked of them but this, so a convolution's patch of pixels can be one.
#pragma once

#include "copy/tma.h"

// part: epilogue

namespace solstice {

template <class T>
concept RowTile = requires(const T& tile, const TensorMap* map, int i, u32 buffer) {
  T::kIsBox ? 0 : 1;
  buffer + tile.staging;
  tile.lane + tile.batch + tile.n0 + tile.n;
  tile.row(i) + tile.column(i, i, i) + tile.own_line(i) + tile.last_line() + tile.line(i);
  tile.has_line(i) && tile.is_box();
  tile.store_box(map, i, buffer);
};

inline constexpr int kStageColumns = 32;

// The places of a warp's accumulators in its tile (mma/wgmma.h).
struct WarpLayout {
  u32 staging;
  int lane;

  SOLSTICE_DEVICE int row(int i) const { return lane / 4 + 8 * (i / 2); }
  SOLSTICE_DEVICE int column(int step, int j, int i) const {
    return step * kStageColumns + 8 * j + 2 * (lane % 4) + i % 2;
  }
};

// Rows that follow each other, of one batch.
struct WarpTile : WarpLayout {
  static constexpr bool kIsBox = true;
  int batch, m0, n0;  // of the warp's 16 rows
  int m, n;           // extents of the problem

  WarpTile() = default;
  SOLSTICE_DEVICE WarpTile(int batch_, int m0_, int n0_, int m_, int n_, u32 staging_, int lane_)
      : WarpLayout{staging_, lane_}, batch(batch_), m0(m0_), n0(n0_), m(m_), n(n_) {}

  SOLSTICE_DEVICE int own_line(int i) const { return m0 + row(i); }
  SOLSTICE_DEVICE int last_line() const { return m - 1; }
  SOLSTICE_DEVICE int line(int r) const { return m0 + r; }
  SOLSTICE_DEVICE bool has_line(int r) const { return m0 + r < m; }
  SOLSTICE_DEVICE static bool is_box() { return true; }
  SOLSTICE_DEVICE void store_box(const TensorMap* map, int column, u32 buffer) const {
    copy::store_box(map, column, m0, batch, buffer);
  }
};
static_assert(RowTile<WarpTile>);

}  // namespace solstice
