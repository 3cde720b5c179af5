// Results of 16 bits: a warp writes its 16 rows 64 columns at a time, through shared memory, by the copy engine. The
// last half of a tile's columns waits in registers, two values in one, and goes out while the next tile is multiplied:
// the tensor cores idle for the first half only, and all of it would leave too few registers.
#pragma once

#include "epilogue/staged.h"

// part: epilogue

namespace solstice {

template <class Epilogue>
inline constexpr bool kDefers = Epilogue::kTma&& Epilogue::kOutputs == 1 && sizeof(ElementOf<Epilogue, 0>) == 2;

inline constexpr int kDeferredColumns = 64;  // 16 rows of so many fill a staging buffer

template <RowTile Tile, int kCount>
struct DeferredTile {
  static constexpr int kChunks = kCount / 32, kHeld = kChunks / 2;
  using Words = u32[16];  // of a chunk: 16 rows x 64 columns of a warp

  Tile tile;
  Words held[kHeld];
  int next = kHeld;  // of `held`, to be written

  template <class Epilogue>
  SOLSTICE_DEVICE void take(const Epilogue& epilogue, const Tile& of, const TensorMap* map,
                            const float (&sums)[kCount]) {
    tile = of;
    next = 0;
    typename Epilogue::In in[16];
    load_step(epilogue, tile, 0, in);
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      Words words;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int s = 2 * c + half;
        float out[16][1];
#pragma unroll
        for (int i = 0; i < 16; ++i)
          epilogue.compute(sums[16 * s + i], in[i], tile.batch, tile.own_line(i % 4),
                           tile.n0 + tile.column(s, i / 4, i % 4), out[i]);
        if (s + 1 < 2 * kChunks) load_step(epilogue, tile, s + 1, in);
#pragma unroll
        for (int i = 0; i < 16; i += 2)
          words[8 * half + i / 2] = pack_pair<ElementOf<Epilogue, 0>>(out[i][0], out[i + 1][0]);
      }
      if (c < kChunks - kHeld) {
        write(epilogue, map, c, words);
      } else {
#pragma unroll
        for (int i = 0; i < 16; ++i) held[c - (kChunks - kHeld)][i] = words[i];
      }
    }
  }

  template <class Epilogue>
  SOLSTICE_DEVICE void write_next(const Epilogue& epilogue, const TensorMap* map) {
    if (next >= kHeld) return;
    write(epilogue, map, kChunks - kHeld + next, held[0]);
#pragma unroll
    for (int c = 1; c < kHeld; ++c) {  // registers have no index at run time, and `write` is long
#pragma unroll
      for (int i = 0; i < 16; ++i) held[c - 1][i] = held[c][i];
    }
    ++next;
  }
  template <class Epilogue>
  SOLSTICE_DEVICE void write_rest(const Epilogue& epilogue, const TensorMap* map) {
    while (next < kHeld) write_next(epilogue, map);
  }

 private:
  // The place of 16 bytes of a row in a staging buffer: lines of 128 bytes, swizzled.
  SOLSTICE_DEVICE static u32 place(u32 buffer, int row, int piece) {
    return buffer + row * 128 + ((piece ^ (row & 7)) << 4);
  }

  template <class Epilogue>
  SOLSTICE_DEVICE void write(const Epilogue& epilogue, const TensorMap* map, int chunk, const Words& words) const {
    const u32 buffer = tile.staging + chunk % kStageBuffers * kStageBytes;
    begin_buffer<Epilogue>(tile);
    const int matrix = tile.lane / 8, row = matrix % 2 * 8 + tile.lane % 8;
#pragma unroll
    for (int q = 0; q < 4; ++q)
      ptx::store_matrices(place(buffer, row, 2 * q + matrix / 2), words[4 * q], words[4 * q + 1], words[4 * q + 2],
                          words[4 * q + 3]);
    ptx::fence_async_proxy();
    ptx::sync_warp();
    bool box = true;
    if constexpr (!Tile::kIsBox) {
      box = tile.is_box();
      if (!box) write_lines(epilogue, chunk, buffer);
    }
    if (tile.lane == 0) {
      if (box) tile.store_box(map, tile.n0 + chunk * kDeferredColumns, buffer);
      copy::store_commit();  // an empty group where the lines were written directly
    }
  }

  // Rows that the copy engine cannot write: they are no box, or not all of them are the tile's.
  template <class Epilogue>
  SOLSTICE_DEVICE void write_lines(const Epilogue& epilogue, int chunk, u32 buffer) const {
    using T = ElementOf<Epilogue, 0>;
    const int piece = tile.lane % 8, n = tile.n0 + chunk * kDeferredColumns + piece * 8;
#pragma unroll 1
    for (int first = 0; first < kStageRows; first += 4) {
      const int r = first + tile.lane / 8, m = tile.line(r);
      const u32 from = place(buffer, r, piece);
      if (!tile.has_line(r)) continue;
      if (n + 8 <= tile.n) {
        ptx::copy_piece(epilogue.template place<0>(tile.batch, m, n), from);
      } else {
#pragma unroll 1
        for (int i = 0; n + i < tile.n; ++i)
          epilogue.template store<0>(tile.batch, m, n + i, staged_value<T>(from + i * sizeof(T)));
      }
    }
  }
};

}  // namespace solstice
