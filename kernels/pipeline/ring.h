// A ring of shared-memory slots with a full and an empty mbarrier each: position and phase of one side of it.
// Barrier i of a ring of n slots lies at `barriers + 8*i` (full) and `barriers + 8*(n + i)` (empty).
#pragma once

#include "ptx/mbarrier.h"

namespace solstice {

// Arrivals of a warp at each block's empty barrier (Ring::release).
template <int kBlocks, bool kEachLane>
inline constexpr int kArrivals = (kEachLane ? 32 : 1) + kBlocks - 1;

template <int kSlots, int kSlotBytes>
struct Ring {
  static constexpr int kBytes = kSlots * kSlotBytes;
  static constexpr int kBarrierBytes = 2 * kSlots * 8;

  u32 data;      // shared address of slot 0
  u32 barriers;  // shared address of the first barrier
  int slot = 0;
  u32 phase = 0;

  SOLSTICE_DEVICE Ring(u32 data_address, u32 barrier_address) : data(data_address), barriers(barrier_address) {}

  SOLSTICE_DEVICE void init(int fills, int releases) const {
    for (int i = 0; i < kSlots; ++i) {
      ptx::barrier_init(barriers + 8 * i, fills);
      ptx::barrier_init(barriers + 8 * (kSlots + i), releases);
    }
  }
  SOLSTICE_DEVICE u32 at(int i) const { return data + i * kSlotBytes; }
  SOLSTICE_DEVICE u32 address() const { return at(slot); }
  SOLSTICE_DEVICE u32 full() const { return barriers + 8 * slot; }
  SOLSTICE_DEVICE u32 empty(int i) const { return barriers + 8 * (kSlots + i); }
  SOLSTICE_DEVICE void wait_full() const { ptx::barrier_wait(full(), phase); }
  SOLSTICE_DEVICE void wait_empty() const { ptx::barrier_wait(empty(slot), phase ^ 1); }
  // By a warp that has read slot i, which kBlocks blocks of the cluster fill; `rank` is its own. kEachLane: lanes have
  // read what lies beside the slot, and each arrives for itself at its own block's barrier.
  template <int kBlocks, bool kEachLane>
  SOLSTICE_DEVICE void release(int i, int lane, int rank) const {
    if constexpr (kBlocks > 1) {
      if (lane < kBlocks && (!kEachLane || lane != rank)) ptx::barrier_arrive_remote(empty(i), lane);
      if constexpr (kEachLane) ptx::barrier_arrive(empty(i));
    } else {
      if (kEachLane || lane == 0) ptx::barrier_arrive(empty(i));
    }
  }
  SOLSTICE_DEVICE void advance() {
    if (++slot == kSlots) {
      slot = 0;
      phase ^= 1;
    }
  }
};

// What lies beside a ring and is read by ordinary loads: kSlots slots taken in turn, without barriers of their own.
template <int kSlots, int kSlotBytes>
struct Aside {
  static constexpr int kBytes = kSlots * kSlotBytes;

  u32 data;  // shared address of slot 0
  int slot = 0;

  SOLSTICE_DEVICE explicit Aside(u32 data_address) : data(data_address) {}

  SOLSTICE_DEVICE u32 address() const { return data + slot * kSlotBytes; }
  SOLSTICE_DEVICE void advance() {
    if (++slot == kSlots) slot = 0;
  }
};

}  // namespace solstice
