// Writing an accumulator tile: each warp turns 16 rows x 32 columns at a time into output values, lays them
// out in its own swizzled staging buffer, and hands the buffer to the copy engine or, where alignment forbids
// that, writes it back line by line, coalesced. Two buffers a warp: one is filled while the other drains.
#pragma once

#include "epilogue/output.h"
#include "epilogue/parts.h"
#include "epilogue/tile.h"
#include "math/storage.h"
#include "ptx/memory.h"
#include "ptx/sync.h"

// part: epilogue

namespace solstice {

inline constexpr int kStageRows = 16;
inline constexpr int kStageBytes = kStageRows * kStageColumns * 4;
inline constexpr int kStageBuffers = 2;

// Byte offset of an element in a staging buffer: lines of 32 elements with the swizzle of that line length
// (128 bytes for 4-byte elements, 64 for 2-byte ones, none for the 32 of 1-byte ones).
template <typename T>
SOLSTICE_DEVICE constexpr u32 staged_offset(int row, int column) {
  if constexpr (sizeof(T) == 4)
    return row * 128 + (((column / 4) ^ (row & 7)) << 4) + column % 4 * 4;
  else if constexpr (sizeof(T) == 1)
    return row * kStageColumns + column;
  else
    return row * 64 + (((column / 8) ^ ((row >> 1) & 3)) << 4) + column % 8 * 2;
}

// Two values of a format of 16 bits, or of 8, in one register.
template <typename T>
SOLSTICE_DEVICE u32 pack_pair(float a, float b) {
  if constexpr (kSame<T, Half>)
    return ptx::pack_half(a, b);
  else if constexpr (sizeof(T) == 1)
    return math::narrow<T>(a).bits | static_cast<u32>(math::narrow<T>(b).bits) << 8;
  else
    return ptx::pack_bfloat(a, b);
}

template <typename T>
SOLSTICE_DEVICE void stage_pair(u32 buffer, int row, int column, float a, float b) {
  const u32 at = buffer + staged_offset<T>(row, column);
  if constexpr (sizeof(T) == 2)
    ptx::store_shared(at, pack_pair<T>(a, b));
  else if constexpr (sizeof(T) == 1)
    ptx::store_shared_u16(at, static_cast<u16>(pack_pair<T>(a, b)));
  else
    ptx::store_shared(at, a, b);
}

template <class T>
SOLSTICE_DEVICE T staged_value(u32 address) {
  if constexpr (sizeof(T) == 4) {
    return ptx::from_bits(ptx::load_shared_u32(address));
  } else if constexpr (sizeof(T) == 1) {
    return T{static_cast<u8>(ptx::load_shared_u8(address))};
  } else {
    return T{ptx::load_shared_u16(address)};
  }
}

// Output 0 where its lines are 16-byte aligned, but the copy engine cannot write them: they are no box, or not all of
// its lines are the tile's.
template <class Epilogue, class Tile>
SOLSTICE_DEVICE void drain_pieces(const Epilogue& epilogue, const Tile& tile, int step, u32 buffer) {
  using T = ElementOf<Epilogue, 0>;
  constexpr int kPiece = 16 / sizeof(T), kPieces = kStageColumns / kPiece;
  const int column = tile.lane % kPieces * kPiece, n = tile.n0 + step * kStageColumns + column;
#pragma unroll
  for (int first = 0; first < kStageRows; first += 32 / kPieces) {
    const int r = first + tile.lane / kPieces;
    const int m = tile.line(r);
    const u32 from = buffer + staged_offset<T>(r, column);
    if (tile.has_line(r) && (tile.n % kPiece == 0 ? n < tile.n : n + kPiece <= tile.n)) {
      ptx::copy_piece(epilogue.template place<0>(tile.batch, m, n), from);
    } else if (tile.has_line(r) && tile.n % kPiece != 0) {
#pragma unroll 1
      for (int i = 0; n + i < tile.n; ++i)
        epilogue.template store<0>(tile.batch, m, n + i, staged_value<T>(from + i * sizeof(T)));
    }
  }
}

template <int kOutput, class Epilogue, class Tile>
SOLSTICE_DEVICE void drain_lines(const Epilogue& epilogue, const Tile& tile, int step, u32 buffer) {
  using T = ElementOf<Epilogue, kOutput>;
  const int n = tile.n0 + step * kStageColumns + tile.lane;
#pragma unroll 4
  for (int r = 0; r < kStageRows; ++r) {
    const int m = tile.line(r);
    if (tile.has_line(r) && n < tile.n)
      epilogue.template store<kOutput>(tile.batch, m, n, staged_value<T>(buffer + staged_offset<T>(r, tile.lane)));
  }
}

// A staging buffer is free again once the stores before the last one have read theirs.
template <class Epilogue, class Tile>
SOLSTICE_DEVICE void begin_buffer(const Tile& tile) {
  if constexpr (Epilogue::kTma) {
    if (tile.lane == 0) copy::store_wait_read<kStageBuffers - 1>();
  }
  ptx::sync_warp();
}

// Stores a staging buffer, one output of one step, to memory.
template <int kOutput, class Epilogue, class Tile>
SOLSTICE_DEVICE void end_buffer(const Epilogue& epilogue, const Tile& tile, const TensorMap* map, int step,
                                u32 buffer) {
  constexpr bool kByTma = kOutput == 0 && Epilogue::kTma;
  if constexpr (kByTma) ptx::fence_async_proxy();
  ptx::sync_warp();
  if constexpr (kByTma) {
    bool box = true;
    if constexpr (!Tile::kIsBox) {
      box = tile.is_box();
      if (!box) drain_pieces(epilogue, tile, step, buffer);
    }
    if (box && tile.lane == 0) tile.store_box(map, tile.n0 + step * kStageColumns, buffer);
  } else {
    drain_lines<kOutput>(epilogue, tile, step, buffer);
  }
  if constexpr (Epilogue::kTma) {
    if (tile.lane == 0) copy::store_commit();  // an empty group where the lines were written directly
  }
}

// One output of one 16 x 32 step; `slot` alternates between the buffers.
template <int kOutput, class Epilogue, class Tile>
SOLSTICE_DEVICE void write_output(const Epilogue& epilogue, const Tile& tile, const TensorMap* map, int step, int slot,
                                  const float (&values)[16][Epilogue::kValues]) {
  using T = ElementOf<Epilogue, kOutput>;
  const u32 buffer = tile.staging + slot * kStageBytes;
  begin_buffer<Epilogue>(tile);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      stage_pair<T>(buffer, tile.row(i), tile.column(0, j, 0), values[4 * j + i][kOutput],
                    values[4 * j + i + 1][kOutput]);
    }
  }
  end_buffer<kOutput>(epilogue, tile, map, step, buffer);
}

template <int kOutput, class Epilogue, class Tile>
SOLSTICE_DEVICE void write_outputs(const Epilogue& epilogue, const Tile& tile, const TensorMap* map, int step,
                                   const float (&values)[16][Epilogue::kValues]) {
  if constexpr (kOutput < Epilogue::kOutputs) {
    write_output<kOutput>(epilogue, tile, map, step, (step * Epilogue::kOutputs + kOutput) % kStageBuffers, values);
    write_outputs<kOutput + 1>(epilogue, tile, map, step, values);
  }
}

template <class Epilogue, class Tile>
SOLSTICE_DEVICE void load_step(const Epilogue& epilogue, const Tile& tile, int step, typename Epilogue::In (&in)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int m = smaller(tile.own_line(i % 4), tile.last_line());
    const int n = smaller(tile.n0 + tile.column(step, i / 4, i % 4), tile.n - 1);
    in[i] = epilogue.load(tile.batch, m, n);
  }
}

// Partial results of a step's columns for their rows: a thread's quad has 32 columns of two rows.
template <class Epilogue, class Tile>
SOLSTICE_DEVICE void keep_parts(const Epilogue& epilogue, const Tile& tile, int step,
                                const float (&values)[16][Epilogue::kValues]) {
  static_assert(kStageColumns == epilogue::kPartColumns);
  const int first = tile.n0 + step * kStageColumns;
  if (first >= tile.n) return;
  const int count = Epilogue::kWholeParts ? kStageColumns : smaller(kStageColumns, tile.n - first);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float own[8][Epilogue::kValues];
    bool inside[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      inside[i] = Epilogue::kWholeParts || tile.column(0, i / 2, i % 2) < count;
#pragma unroll
      for (int v = 0; v < Epilogue::kValues; ++v) own[i][v] = values[4 * (i / 2) + 2 * half + i % 2][v];
    }
    const auto found = epilogue.template find<4>(own, inside, count);
    const int m = tile.own_line(2 * half);
    if (tile.lane % 4 == 0 && m <= tile.last_line()) epilogue.keep(first / kStageColumns, tile.batch, m, found);
  }
}

// kCount elements of a thread: the warp's 16 rows x 2*kCount columns in wgmma's layout. sums[i] is the accumulator of
// one; where elements have two, second[kFrom + i] is the other.
template <int kCount, int kFrom = 0, class Epilogue, RowTile Tile, int kRegisters, class... Second>
SOLSTICE_DEVICE void write_tile(const Epilogue& epilogue, const Tile& tile, const TensorMap* map,
                                const float (&sums)[kRegisters], const Second&... second) {
  constexpr int kSteps = kCount / 16;
  typename Epilogue::In in[16];
  load_step(epilogue, tile, 0, in);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    float values[16][Epilogue::kValues];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int at = 16 * step + i;
      epilogue.compute(sums[at], second[kFrom + at]..., in[i], tile.batch, tile.own_line(i % 4),
                       tile.n0 + tile.column(step, i / 4, i % 4), values[i]);
    }
    if (step + 1 < kSteps) load_step(epilogue, tile, step + 1, in);
    if constexpr (Epilogue::kReduces) keep_parts(epilogue, tile, step, values);
    write_outputs<0>(epilogue, tile, map, step, values);
  }
}

// Elements of one accumulator, of a tile's column halves, as a loop over kAtOnce steps: the accumulators of the steps
// behind move up each time. An epilogue of many instructions, written once for every accumulator, is longer than the
// instruction cache.
template <int kAtOnce, class Epilogue, RowTile Tile, int kHalves, int kCount>
SOLSTICE_DEVICE void write_rolled(const Epilogue& epilogue, const Tile& tile, const TensorMap* map,
                                  float (&sums)[kHalves][kCount]) {
  constexpr int kAll = kHalves * kCount, kMoved = 16 * kAtOnce;
  typename Epilogue::In in[16];
  load_step(epilogue, tile, 0, in);
#pragma unroll 1
  for (int first = 0; first < kAll / 16; first += kAtOnce) {
#pragma unroll
    for (int s = 0; s < kAtOnce; ++s) {
      const int step = first + s;
      float values[16][Epilogue::kValues];
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const int at = 16 * s + i;
        epilogue.compute(sums[at / kCount][at % kCount], in[i], tile.batch, tile.own_line(i % 4),
                         tile.n0 + tile.column(step, i / 4, i % 4), values[i]);
      }
      load_step(epilogue, tile, step + 1, in);  // behind the last one what is read is another element
      if constexpr (Epilogue::kReduces) keep_parts(epilogue, tile, step, values);
      write_outputs<0>(epilogue, tile, map, step, values);
    }
#pragma unroll
    for (int i = 0; i + kMoved < kAll; ++i)
      sums[i / kCount][i % kCount] = sums[(i + kMoved) / kCount][(i + kMoved) % kCount];
  }
}

}  // namespace solstice
