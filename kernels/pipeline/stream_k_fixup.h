// Stream-K fix-up (scheduler/stream_k.h): sums of a tile whose k several blocks share. A warpgroup of one block stores
// its partial sums, that of another adds them to its own.
#pragma once

#include "ptx/memory.h"
#include "ptx/sync.h"

// part: fix-up

namespace solstice::pipeline {

// By when signals, which are 0 before anyone stores, have been cleared.
struct ClearedBefore {
  SOLSTICE_DEVICE static void wait() {}
};
struct ClearedByPreviousKernel {
  SOLSTICE_DEVICE static void wait() { ptx::wait_for_previous_kernel(); }
};

// Of a grid: the sums of a tile for each block, a signal for each warpgroup.
struct StreamKWorkspace {
  float* partials;
  int* signals;
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

// Of the 128 threads of warpgroup `group`, which meet at named barrier 1 + group; a block has kGroups, a thread kCount
// sums, of which kAtOnce are on their way together. Workers are clusters of kBlocks; `rank` is the block's in its own.
template <int kBlocks, int kGroups, int kCount, int kAtOnce, class Cleared = ClearedBefore>
struct StreamKFixup {
  static_assert(kCount % kAtOnce == 0 && kAtOnce % 4 == 0);

  StreamKWorkspace workspace;
  int worker, rank, group;

  // The block of this rank in a worker, and the places of this warpgroup and thread in a block.
  SOLSTICE_DEVICE int block_of(int of) const { return of * kBlocks + rank; }
  SOLSTICE_DEVICE int* signal(int block) const { return workspace.signals + block * kGroups + group; }
  SOLSTICE_DEVICE float* of_thread(int block) const {
    return workspace.partials + (static_cast<i64>(block) * kGroups + group) * (128 * kCount) + threadIdx.x % 128 * 4;
  }

  // Hands the sums on where the tile is another worker's, else adds what others have of it: whether all are here now.
  // `Tile`: from, partial (scheduler/work_tile.h).
  template <class Sums, class Tile>
  SOLSTICE_DEVICE bool complete(Sums& sums, const Tile& tile) const {
    if (tile.partial) {
      store(sums);
      return false;
    }
    if (tile.from < worker) add(sums, tile.from);
    return true;
  }

  template <class Sums>
  SOLSTICE_DEVICE void store(const Sums& sums) const {
    static_assert(sizeof(Sums) == kCount * sizeof(float));
    const int block = static_cast<int>(blockIdx.x);
    float* const to = of_thread(block);
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
      *reinterpret_cast<float4*>(to + i * 128) =
          make_float4(sum_at(sums, i), sum_at(sums, i + 1), sum_at(sums, i + 2), sum_at(sums, i + 3));
    Cleared::wait();
    ptx::sync_some<128>(1 + group);
    if (threadIdx.x % 128 == 0) ptx::store_release(signal(block), 1);  // with all that the barrier ordered before it
  }

  // Adds what workers first .. the one before this store, in this order, each as soon as it is there.
  template <class Sums>
  SOLSTICE_DEVICE void add(Sums& sums, int first) const {
    static_assert(sizeof(Sums) == kCount * sizeof(float));
    Cleared::wait();
#pragma unroll 1
    for (int other = first; other < worker; ++other) {
      // Found once, before the wait: found again behind it, it changes the registers of the main loop, which then takes
      // up to 8 % longer.
      const int block = block_of(other);
      if (threadIdx.x % 128 == 0) {
        while (ptx::load_acquire(signal(block)) == 0) {
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
