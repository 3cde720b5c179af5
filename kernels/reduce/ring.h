// Runs of a tensor's elements on their way through shared memory: one warp copies them in bulk, the block's other warps
// read them. The copy engine moves aligned units of 16 bytes, so a run may begin and end where it likes: whole units
// around it are copied, and its readers skip what lies before it. The host's form copies at once and counts arrivals.
#pragma once

#include "math/platform.h"
#include "ptx/types.h"
#if defined(__CUDACC__)
#include "copy/tma.h"
#include "ptx/mbarrier.h"
#include "ptx/sync.h"
#endif

namespace solstice::reduce {

using Barrier = unsigned long long;

SOLSTICE_DEVICE u32 shared_address(const void* p) {
#if defined(__CUDACC__)
  return static_cast<u32>(__cvta_generic_to_shared(p));
#else
  (void)p;
  return 0;
#endif
}

// What of a tensor of `total` elements is copied so that elements [offset, offset + count) arrive: whole units, and
// the few elements behind the last whole unit of the tensor, which bulk copies cannot reach.
template <typename T>
struct Run {
  static constexpr int kUnit = 16 / static_cast<int>(sizeof(T));
  long long first;
  int whole, rest;  // elements

  SOLSTICE_DEVICE Run(long long offset, int count, long long total) {
    first = offset - before(offset);
    long long end = (offset + count + kUnit - 1) / kUnit * kUnit;
    if (end > total) end = total;
    const int all = static_cast<int>(end - first);
    rest = all % kUnit;
    whole = all - rest;
  }
  SOLSTICE_DEVICE static int before(long long offset) {
    return static_cast<int>(offset & (kUnit - 1));
  }  // elements to skip

  SOLSTICE_DEVICE u32 bytes() const { return static_cast<u32>(whole) * static_cast<u32>(sizeof(T)); }
  SOLSTICE_DEVICE void copy_rest(const T* tensor, T* to) const {
    for (int i = whole; i < whole + rest; ++i) to[i] = tensor[first + i];
  }
  SOLSTICE_DEVICE void copy_whole(const T* tensor, T* to, Barrier* full) const {
    if (whole == 0) return;
#if defined(__CUDACC__)
    copy::load_bytes(shared_address(to), tensor + first, bytes(), shared_address(full));
#else
    (void)full;
    for (int i = 0; i < whole; ++i) to[i] = tensor[first + i];
#endif
  }
};

// Slots with a barrier for `full` (every lane of the copying warp arrives, with the bytes it asked for) and one for
// `empty` (every lane of the kReaders reading warps arrives, each for what it has read). Both sides walk the same
// sequence of slots.
//
// A slot is read by ordinary loads and filled by the copy engine, through another proxy: an arrival alone does not keep
// loads that are still on their way before the copy that it admits. So a reader's fence stands before its arrival.
template <int kSlots, int kSlotBytes, int kReaders>
struct Ring {
  static constexpr int kBytes = kSlots * (kSlotBytes + 16);

  unsigned char* data;
  Barrier* barriers;
  int slot = 0;
  u32 phase = 0;

  // By all threads of the block; they may use it after a barrier of the block.
  SOLSTICE_DEVICE explicit Ring(unsigned char* shared)
      : data(shared), barriers(reinterpret_cast<Barrier*>(shared + kSlots * kSlotBytes)) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kSlots; ++i) {
#if defined(__CUDACC__)
        ptx::barrier_init(shared_address(barriers + i), 32);
        ptx::barrier_init(shared_address(barriers + kSlots + i), 32 * kReaders);
#else
        barriers[i] = barriers[kSlots + i] = 0;
#endif
      }
#if defined(__CUDACC__)
      ptx::barrier_init_fence();
#endif
    }
  }

  SOLSTICE_DEVICE unsigned char* bytes() const { return data + slot * kSlotBytes; }
  SOLSTICE_DEVICE Barrier* full() const { return barriers + slot; }
  SOLSTICE_DEVICE Barrier* empty() const { return barriers + kSlots + slot; }

#if defined(__CUDACC__)
  SOLSTICE_DEVICE void wait_empty() const { ptx::barrier_wait(shared_address(empty()), phase ^ 1); }
  SOLSTICE_DEVICE void wait_full() const { ptx::barrier_wait(shared_address(full()), phase); }
  SOLSTICE_DEVICE void expect(u32 expected) const { ptx::barrier_arrive_expect(shared_address(full()), expected); }
  SOLSTICE_DEVICE void release() const {
    ptx::fence_async_proxy();
    ptx::barrier_arrive(shared_address(empty()));
  }
#else
  // The emulator's threads take turns, so a barrier is the number of arrivals so far.
  u32 rounds = 0;
  SOLSTICE_DEVICE void wait_empty() const {
    while (*empty() < static_cast<Barrier>(rounds) * 32 * kReaders) host::yield();
  }
  SOLSTICE_DEVICE void wait_full() const {
    while (*full() < static_cast<Barrier>(rounds + 1) * 32) host::yield();
  }
  SOLSTICE_DEVICE void arrive(Barrier* barrier) const {
    ++*barrier;
    ++host::team->waits;
  }
  SOLSTICE_DEVICE void expect(u32) const { arrive(full()); }
  SOLSTICE_DEVICE void release() const { arrive(empty()); }
#endif
  // By up to kSlots.
  SOLSTICE_DEVICE void advance(int count = 1) {
    slot += count;
    if (slot >= kSlots) {
      slot -= kSlots;
      phase ^= 1;
#if !defined(__CUDACC__)
      ++rounds;
#endif
    }
  }
};

}  // namespace solstice::reduce
