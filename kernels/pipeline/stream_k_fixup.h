// Stream-K fix-up (scheduler/stream_k.h): sums of a tile whose k several blocks share. A warpgroup of one block stores
// its partial sums, that of another adds them to its own.
#pragma once

#include "ptx/memory.h"
#include "ptx/sync.h"

namespace solstice::pipeline {

// By when signals, which are 0 before anyone stores, have been cleared.
struct ClearedBefore {
  SOLSTICE_DEVICE static void wait() {}
};
struct ClearedByPreviousKernel {
  SOLSTICE_DEVICE static void wait() { ptx::wait_for_previous_kernel(); }
};

// Of a grid: the sums of a tile for each block, a signal for each warpgroup. Warpgroup `group` of a block, kGroups
// each, has kCount sums of each of its 128 threads.
struct StreamKWorkspace {
  float* partials;
  int* signals;

  template <int kGroups, int kCount>
  SOLSTICE_DEVICE float* sums(int block, int group) const {
    return partials + (static_cast<i64>(block) * kGroups + group) * (128 * kCount);
  }
  template <int kGroups>
  SOLSTICE_DEVICE int* signal(int block, int group) const {
    return signals + block * kGroups + group;
  }
};

template <int kCount>
SOLSTICE_DEVICE float& sum_at(float (&sums)[kCount], int i) {
  return sums[i];
}
template <int kCount>
SOLSTICE_DEVICE float sum_at(const float (&sums)[kCount], int i) {
  return sums[i];
}
template <int kParts, int kOfPart>
SOLSTICE_DEVICE float& sum_at(float (&sums)[kParts][kOfPart], int i) {
  return sums[i / kOfPart][i % kOfPart];
}
template <int kParts, int kOfPart>
SOLSTICE_DEVICE float sum_at(const float (&sums)[kParts][kOfPart], int i) {
  return sums[i / kOfPart][i % kOfPart];
}

// Of the 128 threads of warpgroup `group`, which meet at named barrier 1 + group. `Workspace`: its places, as above.
// kAtOnce sums of a thread are on their way together.
template <class Workspace, int kGroups, int kCount, int kAtOnce, class Cleared = ClearedBefore>
struct StreamKFixup {
  static_assert(kCount % kAtOnce == 0 && kAtOnce % 4 == 0);

  const Workspace& workspace;
  int group;

  SOLSTICE_DEVICE float* of_thread(int block) const {
    return workspace.template sums<kGroups, kCount>(block, group) + threadIdx.x % 128 * 4;
  }

  template <class Sums>
  SOLSTICE_DEVICE void store(const Sums& sums, int block) const {
    static_assert(sizeof(Sums) == kCount * sizeof(float));
    float* const to = of_thread(block);
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      *reinterpret_cast<float4*>(to + i * 128) =
          make_float4(sum_at(sums, i), sum_at(sums, i + 1), sum_at(sums, i + 2), sum_at(sums, i + 3));
    Cleared::wait();
    ptx::sync_some<128>(1 + group);
    if (threadIdx.x % 128 == 0)
      ptx::store_release(workspace.template signal<kGroups>(block, group),
                         1);  // with all that the barrier ordered before it
  }

  // Adds what the blocks block_of(first .. own - 1) store, in this order, each as soon as it is there.
  template <class Sums, class BlockOf>
  SOLSTICE_DEVICE void add(Sums& sums, int first, int own, BlockOf&& block_of) const {
    static_assert(sizeof(Sums) == kCount * sizeof(float));
    Cleared::wait();
#pragma unroll 1
    for (int worker = first; worker < own; ++worker) {
      const int block = block_of(worker);
      if (threadIdx.x % 128 == 0) {
        while (ptx::load_acquire(workspace.template signal<kGroups>(block, group)) == 0) {
        }
      }
      ptx::sync_some<128>(1 + group);
      const float* const from = of_thread(block);
#pragma unroll
      for (int at = 0; at < kCount; at += kAtOnce) {
        float v[kAtOnce / 4][4];
#pragma unroll
        for (int i = 0; i < kAtOnce / 4; ++i) ptx::load_global_l2(v[i], from + (at + 4 * i) * 128);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) sum_at(sums, at + i) += v[i / 4][i % 4];
      }
    }
  }
};

}  // namespace solstice::pipeline
