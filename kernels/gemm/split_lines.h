// The split pass of maths whose scale covers a line: a row of A, a column of B, all of its k. A block reads its lines
// twice, once for the largest magnitude and then, backwards, to scale and round them: what was read last is still in
// registers, most of the rest in L1 or L2. Scales are floats, scales[batch][line].
#pragma once

#include "gemm/operand.h"

// part: split

namespace solstice::gemm {

// The guard's counts of a line, of the elements that one thread has seen.
struct LineCounts {
  u32 nonzero, above, lost;  // above 2^6, below 2^-14

  SOLSTICE_DEVICE void add(float scaled) {
    const float magnitude = fabsf(scaled);
    nonzero += scaled != 0.f;
    above += magnitude >= 64.f;
    lost += scaled != 0.f && magnitude < 0x1p-14f;
  }
  template <int kFirst, int kLast>
  SOLSTICE_DEVICE void add_lanes() {
#pragma unroll
    for (int d = kFirst; d <= kLast; d *= 2) {
      nonzero += __shfl_xor_sync(~0u, nonzero, d);
      above += __shfl_xor_sync(~0u, above, d);
      lost += __shfl_xor_sync(~0u, lost, d);
    }
  }
  SOLSTICE_DEVICE void add(const LineCounts& other) {
    nonzero += other.nonzero, above += other.above, lost += other.lost;
  }
  SOLSTICE_DEVICE void leave(RangeAt8& range, const Scale& scale, int length) const {
    range.add_line(scale.representable(), static_cast<float>(length), static_cast<float>(nonzero),
                   static_cast<float>(above), static_cast<float>(lost));
  }
};

// Scales four consecutive elements, counts them, and stores their plane.
template <class Math>
SOLSTICE_DEVICE void store_scaled(u8* to, const float (&v)[4], const float (&scale)[4], LineCounts (&counts)[4],
                                  bool one_line) {
  float x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[i] = v[i] * scale[i];
    counts[one_line ? 0 : i].add(x[i]);
  }
  mainloop::store_planes<Math>(to, 0, x);
}

// kK: a block takes one line at a time, in segments of 16 elements a thread.
template <class Math, int kVector, typename T, class Made>
SOLSTICE_DEVICE void split_rows(const Operand<T, Made>& x, int block, int blocks) {
  constexpr int kPieces = 4, kStep = 4 * kSplitThreads, kSegment = kPieces * kStep, kWarps = kSplitThreads / 32;
  __shared__ float tops[kWarps];
  __shared__ LineCounts found[kWarps];
  const int segments = ceil_div(x.length, kSegment), warp = threadIdx.x / 32;
  RangeAt8 range;
  for (int item = block; item < x.batches * x.lines; item += blocks) {
    const int batch = item / x.lines, line = item % x.lines;
    const T* from = x.data + batch * x.batch_stride + line * x.stride;
    float v[kPieces][4];
    const auto load = [&](int segment) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int k = segment * kSegment + i * kStep + static_cast<int>(threadIdx.x) * 4;
        x.template load<kVector>(v[i], from + k, batch, line, k, x.length - k);
      }
    };
    float top = 0;
    for (int s = 0; s < segments; ++s) {
      load(s);
#pragma unroll
      for (int i = 0; i < 4 * kPieces; ++i) top = ptx::max_magnitude(v[i / 4][i % 4], top);
    }
    top = lanes_max<1, 16>(top);
    if (threadIdx.x % 32 == 0) tops[warp] = top;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWarps; ++i) top = ptx::max_magnitude(tops[i], top);
    const Scale scale(ptx::bits_of(top));
    const float factor = ptx::from_bits(scale.float_bits()), factors[4] = {factor, factor, factor, factor};
    LineCounts counts[4] = {};
    for (int s = segments - 1; s >= 0; --s) {
      if (s != segments - 1) load(s);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int k = s * kSegment + i * kStep + static_cast<int>(threadIdx.x) * 4;
        if (k < x.plane_stride)
          store_scaled<Math>(x.template plane_at<Math>(batch, line, k), v[i], factors, counts, true);
      }
    }
    counts[0].add_lanes<1, 16>();
    if (threadIdx.x % 32 == 0) found[warp] = counts[0];
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < kWarps; ++i) counts[0].add(found[i]);
      counts[0].leave(range, scale, x.length);
      x.template store_scale<4>(batch, line, scale);
    }
  }
  store_block_guard(x.guard, block, range.word());
}

// kK, lines of up to 4 * kLanes * kPieces elements: kLanes neighbouring threads take a line at a time and keep it in
// registers.
template <class Math, int kVector, int kLanes, int kPieces, typename T, class Made>
SOLSTICE_DEVICE void split_short_rows(const Operand<T, Made>& x, int block, int blocks) {
  constexpr int kLines = kSplitThreads / kLanes, kStep = 4 * kLanes;
  const int own = static_cast<int>(threadIdx.x) % kLanes, count = x.batches * x.lines;
  RangeAt8 range;
  for (int first = block * kLines; first < count; first += blocks * kLines) {
    const int item = first + static_cast<int>(threadIdx.x) / kLanes;
    const bool exists = item < count;  // all lanes of a warp take part in its shuffles
    const int batch = exists ? item / x.lines : 0, line = exists ? item % x.lines : 0;
    const T* from = x.data + batch * x.batch_stride + line * x.stride;
    float v[kPieces][4], top = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int k = i * kStep + own * 4;
      x.template load<kVector>(v[i], from + k, batch, line, k, exists ? x.length - k : 0);
    }
#pragma unroll
    for (int i = 0; i < 4 * kPieces; ++i) top = ptx::max_magnitude(v[i / 4][i % 4], top);
    top = lanes_max<1, kLanes / 2>(top);
    const Scale scale(ptx::bits_of(top));
    const float factor = ptx::from_bits(scale.float_bits()), factors[4] = {factor, factor, factor, factor};
    LineCounts counts[4] = {};
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int k = i * kStep + own * 4;
      if (exists && k < x.plane_stride)
        store_scaled<Math>(x.template plane_at<Math>(batch, line, k), v[i], factors, counts, true);
    }
    counts[0].template add_lanes<1, kLanes / 2>();
    if (exists && own == 0) {
      counts[0].leave(range, scale, x.length);
      x.template store_scale<4>(batch, line, scale);
    }
  }
  store_block_guard(x.guard, block, range.word());
}

// kMN: a block takes 32 lines (columns of memory) at a time, in segments of 8 k a thread; lane % 8 has four of the
// lines.
template <class Math, int kVector, typename T, class Made>
SOLSTICE_DEVICE void split_columns(const Operand<T, Made>& x, int block, int blocks) {
  constexpr int kColumns = 32, kPieces = 8, kStep = kSplitThreads / 8, kSegment = kPieces * kStep,
                kWarps = kSplitThreads / 32;
  __shared__ float tops[kWarps][kColumns];
  __shared__ LineCounts found[kWarps][kColumns];
  const int strips = ceil_div(x.length, kColumns), segments = ceil_div(x.lines, kSegment);
  const int own = threadIdx.x % 8 * 4, warp = threadIdx.x / 32;
  RangeAt8 range;
  for (int item = block; item < x.batches * strips; item += blocks) {
    const int batch = item / strips, column = item % strips * kColumns + own;
    const T* from = x.data + batch * x.batch_stride + column;
    float v[kPieces][4];
    const auto load = [&](int segment) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int k = segment * kSegment + i * kStep + static_cast<int>(threadIdx.x) / 8;
        x.template load<kVector>(v[i], from + k * x.stride, batch, k, column, k < x.lines ? x.length - column : 0);
      }
    };
    float top[4] = {0, 0, 0, 0}, factors[4];
    for (int s = 0; s < segments; ++s) {
      load(s);
#pragma unroll
      for (int i = 0; i < 4 * kPieces; ++i) top[i % 4] = ptx::max_magnitude(v[i / 4][i % 4], top[i % 4]);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      top[j] = lanes_max<8, 16>(top[j]);
      if (threadIdx.x % 32 < 8) tops[warp][own + j] = top[j];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < kWarps; ++i) top[j] = ptx::max_magnitude(tops[i][own + j], top[j]);
      factors[j] = ptx::from_bits(Scale(ptx::bits_of(top[j])).float_bits());
    }
    LineCounts counts[4] = {};
    for (int s = segments - 1; s >= 0; --s) {
      if (s != segments - 1) load(s);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        const int k = s * kSegment + i * kStep + static_cast<int>(threadIdx.x) / 8;
        if (k < x.lines && column < x.plane_stride)
          store_scaled<Math>(x.template plane_at<Math>(batch, k, column), v[i], factors, counts, false);
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      counts[j].add_lanes<8, 16>();
      if (threadIdx.x % 32 < 8) found[warp][own + j] = counts[j];
    }
    __syncthreads();
    const int line = item % strips * kColumns + static_cast<int>(threadIdx.x);
    if (threadIdx.x < kColumns && line < x.length) {
      LineCounts all = found[0][threadIdx.x];
      float largest = tops[0][threadIdx.x];
      for (int i = 1; i < kWarps; ++i) {
        all.add(found[i][threadIdx.x]);
        largest = ptx::max_magnitude(tops[i][threadIdx.x], largest);
      }
      const Scale scale(ptx::bits_of(largest));
      all.leave(range, scale, x.lines);
      x.template store_scale<4>(batch, line, scale);
    }
    __syncthreads();
  }
  store_block_guard(x.guard, block, range.word());
}

}  // namespace solstice::gemm
