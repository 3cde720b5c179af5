// A ring of shared-memory slots with a full and an empty mbarrier each: position and phase of one side of it.
// Barrier i of a ring of n slots lies at `barriers + 8*i` (full) and `barriers + 8*(n + i)` (empty).
#pragma once

#include "pipeline/barrier.h"

namespace solstice::pipeline {

// The arrivals of a warp that has read a slot: one lane's for all, or, where lanes have read by ordinary loads what the
// slot's fill replaces, every lane's for itself.
enum class Readers { kWarps, kLanes };

// Arrivals of a warp at each block's empty barrier (Ring::release).
template <int kBlocks, Readers kReaders>
inline constexpr int kArrivals = (kReaders == Readers::kLanes ? 32 : 1) + kBlocks - 1;

// Places of a ring as shared addresses, or as pointers where its code also runs under the host's emulator.
struct Addresses {
  using Data = u32;
  using Barriers = BarrierAddress;
};
struct Pointers {
  using Data = unsigned char*;
  using Barriers = Barrier*;
};

template <int kSlots, int kSlotBytes, class Places = Addresses>
struct Ring {
  static constexpr int kBytes = kSlots * kSlotBytes;
  static constexpr int kBarriersBytes = 2 * kSlots * static_cast<int>(sizeof(Barrier));

  using Data = typename Places::Data;
  using Barriers = typename Places::Barriers;

  Data data;          // of slot 0
  Barriers barriers;  // of the first barrier
  int slot = 0;
  u32 phase = 0;

  SOLSTICE_DEVICE Ring(Data data_place, Barriers barriers_place) : data(data_place), barriers{barriers_place} {}

  SOLSTICE_DEVICE void init(int fills, int releases) const {
    for (int i = 0; i < kSlots; ++i) {
      barrier_init(address_of(barriers + i), fills);
      barrier_init(address_of(empty(i)), releases);
    }
  }
  SOLSTICE_DEVICE Data at(int i) const { return data + i * kSlotBytes; }
  SOLSTICE_DEVICE Data address() const { return at(slot); }
  SOLSTICE_DEVICE Barriers full() const { return barriers + slot; }
  SOLSTICE_DEVICE Barriers empty(int i) const { return barriers + kSlots + i; }
  SOLSTICE_DEVICE void wait_full() const { barrier_wait(address_of(full()), phase); }
  SOLSTICE_DEVICE void wait_empty() const { barrier_wait(address_of(empty(slot)), phase ^ 1); }
  // By a warp that has read slot i, which kBlocks blocks of the cluster fill; `rank` is its own.
  template <int kBlocks, Readers kReaders>
  SOLSTICE_DEVICE void release(int i, int lane, int rank) const {
    constexpr bool kEachLane = kReaders == Readers::kLanes;
    if constexpr (kBlocks > 1) {
      if (lane < kBlocks && (!kEachLane || lane != rank)) barrier_arrive_remote(address_of(empty(i)), lane);
      if constexpr (kEachLane) barrier_arrive(address_of(empty(i)));
    } else {
      if (kEachLane || lane == 0) barrier_arrive(address_of(empty(i)));
    }
  }
  SOLSTICE_DEVICE void advance() {
    if (++slot == kSlots) {
      slot = 0;
      phase ^= 1;
    }
  }
  // By up to kSlots.
  SOLSTICE_DEVICE void advance(int count) {
    slot += count;
    if (slot >= kSlots) {
      slot -= kSlots;
      phase ^= 1;
    }
  }
};

// Data beside a ring's slots that ordinary loads read: kSlots slots taken in turn, without barriers of their
// own.
template <int kSlots, int kSlotBytes>
struct SideSlots {
  static constexpr int kBytes = kSlots * kSlotBytes;

  u32 data;  // shared address of slot 0
  int slot = 0;

  SOLSTICE_DEVICE explicit SideSlots(u32 data_address) : data(data_address) {}

  SOLSTICE_DEVICE u32 address() const { return data + slot * kSlotBytes; }
  SOLSTICE_DEVICE void advance() {
    if (++slot == kSlots) slot = 0;
  }
};

}  // namespace solstice::pipeline
