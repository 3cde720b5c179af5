// Rows that many blocks share, beyond the reach of a cluster: each block holds a part of the row in shared memory, and
// blocks tell each other what they found through global memory. All blocks of the launch are resident (a cooperative
// launch), so waiting for another one ends. One warp of each block does nothing but exchange; the others go on with the
// next row meanwhile.
//
// A value travels with the number of its row in one 16-byte store, which no reader sees half of; a reader asks until
// the number is right. So there are no counters and no fences. Every block has a place for everyone's offer that it
// alone reads. Numbers begin at 1 with every launch, and the memory starts as zeros (a memset step). Two places take
// turns: a group that offers for its row n has everyone's offer for n - 1, hence everyone has read those for n - 2.
#pragma once

#include "pipeline/barrier.h"
#include "reduction/correct.h"
#include "reduction/reduce.h"

// part: exchange

namespace solstice::reduction {

struct alignas(16) Offer {
  u64 value, row;
};

template <typename T>
SOLSTICE_DEVICE void offer(T value, u32 row, Offer* to) {
  static_assert(sizeof(T) <= 8);
  u64 bits = 0;
  if constexpr (sizeof(T) == 8)
    bits = __builtin_bit_cast(u64, value);
  else
    bits = __builtin_bit_cast(u32, value);
#if defined(__CUDACC__)
  asm volatile("{\n.reg .b128 both;\nmov.b128 both, {%1, %2};\nst.relaxed.gpu.global.b128 [%0], both;\n}" ::"l"(to),
               "l"(bits), "l"(static_cast<u64>(row))
               : "memory");
#else
  *to = {bits, row};
#endif
}

SOLSTICE_DEVICE Offer look_at(const Offer* from) {
  Offer seen;
#if defined(__CUDACC__)
  asm volatile("{\n.reg .b128 both;\nld.relaxed.gpu.global.b128 both, [%2];\nmov.b128 {%0, %1}, both;\n}"
               : "=l"(seen.value), "=l"(seen.row)
               : "l"(from)
               : "memory");
#else
  seen = *from;
#endif
  return seen;
}
SOLSTICE_DEVICE void ask_later() {
#if !defined(__CUDACC__)
  host::yield();
#endif
}

template <typename T>
SOLSTICE_DEVICE T offered(u64 value) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, value);
  else
    return __builtin_bit_cast(T, static_cast<u32>(value));
}

template <typename T>
SOLSTICE_DEVICE T wait_for(const Offer* from, u32 row) {
  Offer seen = look_at(from);
  while (seen.row != row) {
    ask_later();
    seen = look_at(from);
  }
  return offered<T>(seen.value);
}

constexpr int kTurns = 2;

// This block's value to all kBlocks blocks of its team, of kThreads threads. Place [reader][writer] of `offers`.
template <int kBlocks, int kThreads, typename T>
SOLSTICE_DEVICE void offer_to_all(T value, int rank, int place, u32 row, Offer* offers) {
  for (int reader = place; reader < kBlocks; reader += kThreads) offer(value, row, offers + reader * kBlocks + rank);
}

// The part of lane `lane` of a warp of all that the blocks of the team offer to this one: kValues of each, from blocks
// lane, lane + 32, ..: value[i * kEach + k]. Beyond the last block, this one's. All are asked for at once, as often as
// it takes.
template <int kBlocks, int kValues, int kEach>
SOLSTICE_DEVICE void collect_offers(const Offer* offers, int rank, int lane, u32 row, u64* value) {
  bool all = false;
  while (!all) {
    all = true;
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        const int block = k * 32 + lane < kBlocks ? k * 32 + lane : rank;
        const Offer seen = look_at(offers + (i * kBlocks + rank) * kBlocks + block);
        value[i * kEach + k] = seen.value;
        all = all && seen.row == row;
      }
    }
    if (!all) ask_later();
  }
}

// Of `size` vectors, those that thread `place` of kThreads takes, one in each step.
template <int kThreads>
SOLSTICE_DEVICE int taken(int size, int place) {
  return size > place ? (size - place + kThreads - 1) / kThreads : 0;
}

// Tells that something happened for the n-th time (n = 0, 1, ..) to threads of the block that wait for it: when
// kArrivals threads, or one, said so. Nobody may be two times behind.
struct Signal {
  unsigned long long* barrier;

  // By one thread, before a barrier of the block.
  SOLSTICE_DEVICE void open(int arrivals) const {
    pipeline::barrier_init(pipeline::address_of(barrier), arrivals);
    pipeline::barrier_init_fence();
  }
  SOLSTICE_DEVICE void arrive() const { pipeline::barrier_arrive(pipeline::address_of(barrier)); }
  SOLSTICE_DEVICE void wait(int n) const {
    pipeline::barrier_wait(pipeline::address_of(barrier), static_cast<u32>(n) & 1);
  }
};

SOLSTICE_DEVICE void sync_warp() {
#if defined(__CUDACC__)
  ptx::sync_warp();
#else
  host::sync_warp();
#endif
}

}  // namespace solstice::reduction
