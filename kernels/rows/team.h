// Rows that many blocks share, beyond the reach of a cluster: each block holds a part of the row in shared memory, and
// blocks tell each other what they found through global memory. All blocks of the launch are resident (a cooperative
// launch), so waiting for another one ends.
//
// A value travels with the number of its row in one 16-byte store, which no reader sees half of; a reader asks until the
// number is right. So there are no counters and no fences. Every block has a place for everyone's offer that it alone
// reads. Numbers begin at 1 with every launch, and the memory starts as zeros (a memset step). Two places take turns: a
// group that offers for its row n has everyone's offer for n - 1, hence everyone has read those for n - 2.
#pragma once

#include "math/special.h"
#include "rows/reduce.h"
#if defined(__CUDACC__)
#include "ptx/sync.h"
#endif

namespace solstice::rows {

// Fillings of the ring that are on their way at one time. Whatever waits in the memory system delays the offers.
constexpr int kInFlight = 4;

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
  asm volatile("{\n.reg .b128 both;\nmov.b128 both, {%1, %2};\nst.relaxed.gpu.global.b128 [%0], both;\n}" ::"l"(to), "l"(bits),
               "l"(static_cast<u64>(row))
               : "memory");
#else
  *to = {bits, row};
#endif
}

template <typename T>
SOLSTICE_DEVICE T wait_for(const Offer* from, u32 row) {
  Offer seen;
#if defined(__CUDACC__)
  do {
    asm volatile("{\n.reg .b128 both;\nld.relaxed.gpu.global.b128 both, [%2];\nmov.b128 {%0, %1}, both;\n}"
                 : "=l"(seen.value), "=l"(seen.row)
                 : "l"(from)
                 : "memory");
  } while (seen.row != row);
#else
  while (from->row != row) host::yield();
  seen = *from;
#endif
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, seen.value);
  else
    return __builtin_bit_cast(T, static_cast<u32>(seen.value));
}

constexpr int kTurns = 2;

// This block's value to all kBlocks blocks of its team, of kThreads threads. Place [reader][writer] of `offers`.
template <int kBlocks, int kThreads, typename T>
SOLSTICE_DEVICE void offer_to_all(T value, int rank, int place, u32 row, Offer* offers) {
  for (int reader = place; reader < kBlocks; reader += kThreads) offer(value, row, offers + reader * kBlocks + rank);
}

// What block number `place` offers to this one; beyond the last block, what changes nothing.
template <class Op, int kBlocks, typename T>
SOLSTICE_DEVICE T offer_of(const Offer* offers, int rank, int place, u32 row) {
  return place < kBlocks ? wait_for<T>(offers + rank * kBlocks + place, row) : Op::template start<T>();
}

// A part's maximum as the center of its exponentials, which are then right for +Inf and NaN, as the row's maximum is the
// same; those of a part of nothing but -Inf are zeros.
template <typename T>
SOLSTICE_DEVICE T center_of(T maximum) {
  return maximum == rows::lowest<T>() ? T(0) : maximum;
}
// What makes exponentials around a part's own center those around the row's. Finite where the row's center is: zeros
// stay zeros.
template <typename T>
SOLSTICE_DEVICE T factor_of(T own, T center) {
  if (own == center) return T(1);
  const T factor = static_cast<T>(math::exponential(own - center));
  constexpr T kLarge = T(3e38);
  return math::is_finite(center) && factor > kLarge ? kLarge : factor;
}

// A part's sum as the row's would be if all parts were like it: `share` is the row's length over the part's.
template <typename T>
SOLSTICE_DEVICE T as_of_row(T sum, double share) {
  return static_cast<T>(static_cast<double>(sum) * share);
}
// A part's sum of (x - its center)^2, of `count` elements, for the row's center.
template <typename T, typename C>
SOLSTICE_DEVICE T corrected_squares(T sum, C own, C center, int count) {
  const double distance = static_cast<double>(own) - static_cast<double>(center);
  return sum + static_cast<T>(distance * distance * count);
}

// Of the kThreads threads of group `group` of a block; barrier 0 is the block's.
template <int kThreads>
SOLSTICE_DEVICE void sync_group(int group) {
#if defined(__CUDACC__)
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(group + 1), "n"(kThreads) : "memory");
#else
  host::sync_named(group + 1, kThreads);
#endif
}

// Registers go from the warpgroup that copies to those that compute; every thread calls one of the two.
template <int kRegisters>
SOLSTICE_DEVICE void take_registers() {
#if defined(__CUDACC__)
  ptx::grow_registers<kRegisters>();
#endif
}
template <int kRegisters>
SOLSTICE_DEVICE void give_registers() {
#if defined(__CUDACC__)
  ptx::shrink_registers<kRegisters>();
#endif
}

}  // namespace solstice::rows
