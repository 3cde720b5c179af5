// Runs of a tensor's elements on their way through a ring of shared memory: one warp copies them in bulk, the block's
// other warps read them. The copy engine moves aligned units of 16 bytes, so a run may begin and end where it likes:
// whole units around it are copied, and its readers skip what lies before it. On the host (host/emulator.h) a run is
// copied at once.
#pragma once

#include "math/platform.h"
#include "pipeline/ring.h"
#if defined(__CUDACC__)
#include "copy/tma.h"
#endif

namespace solstice::pipeline {

// The part of a tensor of `total` elements that is copied so that elements [offset, offset + count) arrive: whole
// units, and the few elements after the last whole unit of the tensor, which bulk copies cannot reach.
template <typename T>
struct BulkRun {
  static constexpr int kUnit = 16 / static_cast<int>(sizeof(T));
  long long first;
  int whole, rest;  // elements

  SOLSTICE_DEVICE BulkRun(long long offset, int count, long long total) {
    first = offset - before(offset);
    long long end = (offset + count + kUnit - 1) / kUnit * kUnit;
    if (end > total) end = total;
    const int all = static_cast<int>(end - first);
    rest = all % kUnit;
    whole = all - rest;
  }
  // Elements to skip.
  SOLSTICE_DEVICE static int before(long long offset) { return static_cast<int>(offset & (kUnit - 1)); }

  SOLSTICE_DEVICE u32 bytes() const { return static_cast<u32>(whole) * static_cast<u32>(sizeof(T)); }
  SOLSTICE_DEVICE void copy_rest(const T* tensor, T* to) const {
    for (int i = whole; i < whole + rest; ++i) to[i] = tensor[first + i];
  }
  SOLSTICE_DEVICE void copy_whole(const T* tensor, T* to, Barrier* full) const {
    if (whole == 0) return;
#if defined(__CUDACC__)
    copy::load_bytes(address_of(to), tensor + first, bytes(), address_of(full));
#else
    (void)full;
    for (int i = 0; i < whole; ++i) to[i] = tensor[first + i];
#endif
  }
};

// Every lane of the copying warp arrives at `full`, with the bytes it asked for; every lane of the kReaders reading
// warps at `empty`, each for what it has read. Both sides walk the same sequence of slots.
//
// A slot is read by ordinary loads and filled by the copy engine, through another proxy: an arrival alone does not keep
// loads that are still on their way before the copy that it admits. So a reader's fence stands before its arrival.
template <int kSlots, int kSlotBytes, int kReaders>
struct BulkRing : Ring<kSlots, kSlotBytes, Pointers> {
  using Base = Ring<kSlots, kSlotBytes, Pointers>;

  // By all threads of the block; they may use it after a barrier of the block.
  SOLSTICE_DEVICE explicit BulkRing(unsigned char* shared)
      : Base(shared, reinterpret_cast<Barrier*>(shared + Base::kBytes)) {
    if (threadIdx.x == 0) {
      Base::init(32, 32 * kReaders);
      barrier_init_fence();
    }
  }
  SOLSTICE_DEVICE unsigned char* bytes() const { return Base::address(); }
  SOLSTICE_DEVICE void expect(u32 bytes) const { barrier_arrive_expect(address_of(Base::full()), bytes); }
  SOLSTICE_DEVICE void release() const {
    fence_copies();
    Base::template release<1, Readers::kLanes>(Base::slot, 0, 0);
  }
  SOLSTICE_DEVICE void advance(int count = 1) { Base::advance(count); }
};

}  // namespace solstice::pipeline
