// The split pass: reads an operand once, in whatever alignment it has, and writes aligned planes for the copy
// engine, with a scale per chunk of 64 k and the range guard's word. Because a scale covers one chunk and not
// a whole row, every chunk is independent: no second read, no exchange between blocks, any extent of k.
// Layouts are those of operand.h. Maths that scale whole lines have a pass of their own (split_lines.h).
#pragma once

#include "gemm/split_lines.h"
#include "mma/descriptor.h"

// part: split

namespace solstice::gemm {

// Blocks that an SM is to hold at once, by the registers that they leave a thread.
SOLSTICE_DEVICE constexpr int split_blocks(mma::Major major) { return major == mma::Major::kK ? 5 : 4; }
inline constexpr int kSplitColumns = 128;  // of an MN-major operand, a block takes at a time

// kK: four lanes share a chunk of a line, four elements of every sixteen each; a block takes one chunk of 64 lines at a
// time.
template <class Math, int kScaleBytes, int kVector, typename T, class Made>
SOLSTICE_DEVICE void split_k_major(const Operand<T, Made>& x, int block, int blocks) {
  constexpr int kLines = kSplitThreads / 4;
  const int chunks = ceil_div(x.length, kChunk);
  const int strips = ceil_div(x.lines, kLines);
  const int lane = threadIdx.x % 4;
  Range range;
  for (int item = block; item < x.batches * strips * chunks; item += blocks) {
    const int batch = item / (strips * chunks);
    const int strip = item / chunks - batch * strips;
    const int line = strip * kLines + threadIdx.x / 4;
    const int chunk = item % chunks;
    const bool live = line < x.lines;
    const int k0 = chunk * kChunk + lane * 4;
    const T* from = x.data + batch * x.batch_stride + line * x.stride + k0;
    float v[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      x.template load<kVector>(v[i], from + 16 * i, batch, line, k0 + 16 * i, live ? x.length - k0 - 16 * i : 0);
    if constexpr (Math::kScaled) {
      const int valid = smaller(x.length - chunk * kChunk, kChunk);
      const Scale scale = scale_chunk<1, 2>([&](int i) -> float& { return v[i / 4][i % 4]; }, valid, range);
      if (lane == 0 && live) x.template store_scale<kScaleBytes>(static_cast<i64>(batch) * chunks + chunk, line, scale);
    }
    u8* to = x.template plane_at<Math>(batch, line, k0);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (live && k0 + 16 * i < x.plane_stride)
        mainloop::store_planes<Math>(to + 16 * i * Math::Type::kBytes, x.template plane_bytes<Math>(), v[i]);
    }
  }
  if constexpr (Math::kScaled) store_block_guard(x.guard, block, range.word());
}

// kMN: a warp takes one chunk of 16 elements (columns): lane%8 owns two columns, lane/8 every fourth k.
template <class Math, int kScaleBytes, int kVector, typename T, class Made>
SOLSTICE_DEVICE void split_mn_major(const Operand<T, Made>& x, int block, int blocks) {
  constexpr int kColumns = 2;
  constexpr int kSteps = kChunk / 4;
  const int chunks = ceil_div(x.lines, kChunk);
  const int strips = ceil_div(x.length, kSplitColumns);
  const int lane = threadIdx.x % 32;
  Range range;
  for (int item = block; item < x.batches * chunks * strips; item += blocks) {
    const int batch = item / (chunks * strips);
    const int chunk = item / strips - batch * chunks;
    const int column = item % strips * kSplitColumns + threadIdx.x / 32 * 8 * kColumns + lane % 8 * kColumns;
    const int k0 = chunk * kChunk + lane / 8;
    const T* from = x.data + batch * x.batch_stride + k0 * x.stride + column;
    float v[kSteps][kColumns];
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      x.template load<smaller(kVector, kColumns)>(v[i], from + 4 * i * x.stride, batch, k0 + 4 * i, column,
                                                  k0 + 4 * i < x.lines ? x.length - column : 0);
    if constexpr (Math::kScaled) {
      const int valid = smaller(x.lines - chunk * kChunk, kChunk);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const Scale scale = scale_chunk<8, 16>([&](int i) -> float& { return v[i][j]; }, valid, range);
        if (lane < 8 && column + j < x.length)
          x.template store_scale<kScaleBytes>(static_cast<i64>(batch) * chunks + chunk, column + j, scale);
      }
    }
    if (column >= x.plane_stride) continue;
    u8* to = x.template plane_at<Math>(batch, k0, column);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (k0 + 4 * i < x.lines)
        mainloop::store_planes<Math>(to + static_cast<i64>(4 * i) * x.plane_stride * Math::Type::kBytes,
                                     x.template plane_bytes<Math>(), v[i]);
    }
  }
  if constexpr (Math::kScaled) store_block_guard(x.guard, block, range.word());
}

// kScaleBytes says which operand it is: kScaleBytesA or kScaleBytesB. kLanes: threads that keep a line of up to 4 *
// kLanes * kPieces elements in registers, where a scale covers it; 0: a block takes a line.
template <class Math, int kScaleBytes, mma::Major kMajor, int kVector, int kLanes = 0, int kPieces = 0, typename T,
          class Made>
SOLSTICE_DEVICE void split_operand(const Operand<T, Made>& x, int block, int blocks) {
  constexpr bool kByK = kMajor == mma::Major::kK;
  if constexpr (Math::kLineScaled && kByK && kLanes > 0)
    split_short_rows<Math, kVector, kLanes, kPieces>(x, block, blocks);
  else if constexpr (Math::kLineScaled && kByK)
    split_rows<Math, kVector>(x, block, blocks);
  else if constexpr (Math::kLineScaled)
    split_columns<Math, kVector>(x, block, blocks);
  else if constexpr (kByK)
    split_k_major<Math, kScaleBytes, kVector>(x, block, blocks);
  else
    split_mn_major<Math, kScaleBytes, kVector>(x, block, blocks);
}

// Of the product behind, whose blocks share tiles (pipeline/stream_k_fixup.h).
SOLSTICE_DEVICE void clear_signals(int* signals, int count) {
  for (int i = threadIdx.x; i < count; i += kSplitThreads) signals[i] = 0;
}

}  // namespace solstice::gemm
