// The split pass: reads an operand once, in whatever alignment it has, and writes aligned planes for the copy engine,
// with a scale per chunk of 64 k and the range guard's word. Because a scale covers one chunk and not a whole row, every
// chunk is independent: no second read, no exchange between blocks, any extent of k.
//
// Layouts. Operand: `lines` lines of `length` contiguous elements, `stride` elements apart, `batches` of them.
//   kK:  lines are the rows of A (columns of B), an element is a k;  planes[batch][plane][line][k]
//   kMN: lines are the k, an element is a row of A (column of B);    planes[batch][plane][k][element]
// Planes have lines of `plane_stride` elements (a multiple of 8, zero-filled). scales[batch][chunk][scale_stride], bfloat.
// One guard word a block: no initial value is needed, and nothing is left behind.
#pragma once

#include "gemm/guard.h"
#include "gemm/planes.h"
#include "mma/descriptor.h"
#include "ptx/sync.h"

namespace solstice::gemm {

inline constexpr int kSplitThreads = 256;

template <typename T>
struct Operand {
  const T* data;
  i64 batch_stride, stride;  // elements
  int batches, lines, length;
  u8* planes;
  int plane_stride;          // elements
  u16* scales;
  int scale_stride;
  u32* guard;

  template <class Math>
  SOLSTICE_DEVICE i64 plane_bytes() const {
    return static_cast<i64>(lines) * plane_stride * Math::Type::kBytes;
  }
  template <class Math>
  SOLSTICE_DEVICE u8* plane_at(int batch, int line, int element) const {
    const i64 row = static_cast<i64>(batch) * Math::kPlanes * lines + line;
    return planes + (row * plane_stride + element) * Math::Type::kBytes;
  }
};

// kCount elements from `p`, of which `valid` exist; kVector elements may be loaded at once.
template <int kVector, int kCount, typename T>
SOLSTICE_DEVICE void load_line(float (&v)[kCount], const T* p, int valid) {
  if constexpr (kVector > 1) {
    if (valid >= kCount) {
#pragma unroll
      for (int i = 0; i < kCount; i += kVector) {
        float w[kVector];
        ptx::load_streaming(w, p + i);
#pragma unroll
        for (int j = 0; j < kVector; ++j) v[i + j] = w[j];
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = i < valid ? to_float(p[i]) : 0.f;
}

SOLSTICE_DEVICE u32 magnitude(float v) { return ptx::bits_of(v) & 0x7fffffffu; }

// Sums or maxima over the lanes that differ in the bits of `first`, 2 * first, ... up to `last`.
SOLSTICE_DEVICE u32 lanes_max(u32 v, int first, int last) {
  for (int d = first; d <= last; d *= 2) v = larger(v, __shfl_xor_sync(~0u, v, d));
  return v;
}
SOLSTICE_DEVICE u32 lanes_sum(u32 v, int first, int last) {
  for (int d = first; d <= last; d *= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

// The block's guard word: byte-wise maximum over its threads, once at the end.
SOLSTICE_DEVICE void store_guard(u32* guard, int block, u32 word) {
  __shared__ u32 words[kSplitThreads / 32];
  for (int d = 16; d > 0; d /= 2) word = __vmaxu4(word, __shfl_xor_sync(~0u, word, d));
  if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = word;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < kSplitThreads / 32; ++i) word = __vmaxu4(word, words[i]);
    guard[block] = word;
  }
}

// kK: eight lanes share a chunk of a line; a block takes 32 lines and kChunks chunks at a time.
template <class Math, int kVector, typename T>
SOLSTICE_DEVICE void split_k_major(const Operand<T>& x, int block, int blocks) {
  constexpr int kChunks = 4;
  constexpr int kLines = kSplitThreads / 8;
  const int chunks = ceil_div(x.length, kChunk);
  const int groups = ceil_div(chunks, kChunks);
  const int strips = ceil_div(x.lines, kLines);
  const int lane = threadIdx.x % 8;
  u32 guard = 0;
  for (int item = block; item < x.batches * strips * groups; item += blocks) {
    const int batch = item / (strips * groups);
    const int strip = item / groups - batch * strips;
    const int line = strip * kLines + threadIdx.x / 8;
    const int chunk0 = item % groups * kChunks;
    const bool live = line < x.lines;
    const T* row = x.data + batch * x.batch_stride + line * x.stride;
    float v[kChunks][kVectorK];
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int k = (chunk0 + i) * kChunk + lane * kVectorK;
      load_line<kVector>(v[i], row + k, live ? x.length - k : 0);
    }
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int chunk = chunk0 + i;
      const int k = chunk * kChunk + lane * kVectorK;
      if constexpr (Math::kScaled) {
        u32 top = 0;
#pragma unroll
        for (int j = 0; j < kVectorK; ++j) top = larger(top, magnitude(v[i][j]));
        const Scale scale(lanes_max(top, 1, 4));
        RangeCount count;
#pragma unroll
        for (int j = 0; j < kVectorK; ++j) count.add(magnitude(v[i][j]), scale);
        count.below = lanes_sum(count.below, 1, 4);
        count.zeros = lanes_sum(count.zeros, 1, 4);
        guard = __vmaxu4(guard, count.word(scale));
        const float s = ptx::from_bits(scale.float_bits());
#pragma unroll
        for (int j = 0; j < kVectorK; ++j) v[i][j] *= s;
        if (lane == 0 && live && chunk < chunks)
          x.scales[(static_cast<i64>(batch) * chunks + chunk) * x.scale_stride + line] = scale.inverse_bfloat();
      }
      if (live && k < x.plane_stride)
        store_planes<Math>(x.template plane_at<Math>(batch, line, k), x.template plane_bytes<Math>(), v[i]);
    }
  }
  if constexpr (Math::kScaled) store_guard(x.guard, block, guard);
}

// kMN: a warp takes one chunk of 32 elements (columns): lane%8 owns four columns, lane/8 every fourth k.
template <class Math, int kVector, typename T>
SOLSTICE_DEVICE void split_mn_major(const Operand<T>& x, int block, int blocks) {
  constexpr int kColumns = 4;
  constexpr int kSteps = kChunk / 4;
  const int chunks = ceil_div(x.lines, kChunk);
  const int strips = ceil_div(x.length, kSplitThreads);
  const int lane = threadIdx.x % 32;
  u32 guard = 0;
  for (int item = block; item < x.batches * chunks * strips; item += blocks) {
    const int batch = item / (chunks * strips);
    const int chunk = item / strips - batch * chunks;
    const int column = item % strips * kSplitThreads + threadIdx.x / 32 * 32 + lane % 8 * kColumns;
    const int k0 = chunk * kChunk + lane / 8;
    const T* from = x.data + batch * x.batch_stride + column;
    float v[kSteps][kColumns];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int k = k0 + 4 * i;
      load_line<kVector>(v[i], from + k * x.stride, k < x.lines ? x.length - column : 0);
    }
    if constexpr (Math::kScaled) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        u32 top = 0;
#pragma unroll
        for (int i = 0; i < kSteps; ++i) top = larger(top, magnitude(v[i][j]));
        const Scale scale(lanes_max(top, 8, 16));
        RangeCount count;
#pragma unroll
        for (int i = 0; i < kSteps; ++i) count.add(magnitude(v[i][j]), scale);
        count.below = lanes_sum(count.below, 8, 16);
        count.zeros = lanes_sum(count.zeros, 8, 16);
        guard = __vmaxu4(guard, count.word(scale));
        const float s = ptx::from_bits(scale.float_bits());
#pragma unroll
        for (int i = 0; i < kSteps; ++i) v[i][j] *= s;
        if (lane < 8 && column + j < x.length)
          x.scales[(static_cast<i64>(batch) * chunks + chunk) * x.scale_stride + column + j] = scale.inverse_bfloat();
      }
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int k = k0 + 4 * i;
      if (k < x.lines && column < x.plane_stride)
        store_planes<Math>(x.template plane_at<Math>(batch, k, column), x.template plane_bytes<Math>(), v[i]);
    }
  }
  if constexpr (Math::kScaled) store_guard(x.guard, block, guard);
}

template <class Math, mma::Major kMajor, int kVector, typename T>
SOLSTICE_DEVICE void split_operand(const Operand<T>& x, int block, int blocks) {
  if constexpr (kMajor == mma::Major::kK) split_k_major<Math, kVector>(x, block, blocks);
  else split_mn_major<Math, kVector>(x, block, blocks);
}

}  // namespace solstice::gemm
