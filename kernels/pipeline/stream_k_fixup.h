// Sums of tiles whose k several blocks share (scheduler/stream_k.h): a warpgroup of one block leaves its own in memory,
// that of another adds them to its own. Signals are 0 when the launch begins.
#pragma once

#include "ptx/memory.h"
#include "ptx/sync.h"

namespace solstice::gemm {

// Of every block: the sums of a tile, a signal a warpgroup.
struct StreamKWorkspace {
  float* partials;
  int* signals;
};

// What `warpgroup` of `block` hands on: kCount sums of each of its 128 threads, which meet at named barrier 1 + group.
template <int kGroups, int kCount>
struct StreamKFixup {
  const StreamKWorkspace& in;
  int group;

  SOLSTICE_DEVICE float* partials(int block) const {
    return in.partials + (static_cast<i64>(block) * kGroups + group) * (128 * kCount) + threadIdx.x % 128 * 4;
  }
  SOLSTICE_DEVICE int* signal(int block) const { return in.signals + block * kGroups + group; }

  template <int kParts, int kOfPart>
  SOLSTICE_DEVICE void give(const float (&sums)[kParts][kOfPart], int block) const {
    static_assert(kParts * kOfPart == kCount);
    float* const to = partials(block);
#pragma unroll
    for (int h = 0; h < kParts; ++h) {
#pragma unroll
      for (int i = 0; i < kOfPart; i += 4)
        *reinterpret_cast<float4*>(to + (h * kOfPart + i) * 128) =
            make_float4(sums[h][i], sums[h][i + 1], sums[h][i + 2], sums[h][i + 3]);
    }
    ptx::sync_some<128>(1 + group);
    if (threadIdx.x % 128 == 0) ptx::store_release(signal(block), 1);  // with all that the barrier ordered before it
  }

  // Adds what `block` hands on, as soon as it is there.
  template <int kParts, int kOfPart>
  SOLSTICE_DEVICE void add(float (&sums)[kParts][kOfPart], int block) const {
    constexpr int kAtOnce = kOfPart < 64 ? kOfPart : 64;
    static_assert(kParts * kOfPart == kCount && kOfPart % kAtOnce == 0 && kAtOnce % 4 == 0);
    if (threadIdx.x % 128 == 0) {
      while (ptx::load_acquire(signal(block)) == 0) {
      }
    }
    ptx::sync_some<128>(1 + group);
    const float* const from = partials(block);
#pragma unroll
    for (int h = 0; h < kParts; ++h) {
#pragma unroll
      for (int at = 0; at < kOfPart; at += kAtOnce) {
        float v[kAtOnce / 4][4];
#pragma unroll
        for (int i = 0; i < kAtOnce / 4; ++i) ptx::load_global_l2(v[i], from + (h * kOfPart + at + 4 * i) * 128);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) sums[h][at + i] += v[i / 4][i % 4];
      }
    }
  }
};

}  // namespace solstice::gemm
