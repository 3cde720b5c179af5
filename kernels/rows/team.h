// Rows that many blocks share, beyond the reach of a cluster: each block holds a part of the row in shared memory, and
// blocks tell each other what they found through global memory. All blocks of the launch are resident (a cooperative
// launch), so waiting for another one ends.
//
// A value travels with the number of its row in one 16-byte store, which no reader sees half of; a reader asks until the
// number is right. So there are no counters and no fences. Numbers begin at 1 with every launch, and the memory starts as
// zeros (a memset step). Two places take turns: when a block offers for its next row but one, it has got everyone's
// offer for the next row, hence everyone has read this one.
#pragma once

#include "rows/reduce.h"

namespace solstice::rows {

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

// This thread's share of all kBlocks offers, in the order of their blocks: `place` of kThreads threads takes every
// kThreads-th.
template <class Op, int kBlocks, int kThreads, typename T>
SOLSTICE_DEVICE T gather(const Offer* offers, int place, u32 row) {
  T v = Op::template start<T>();
  for (int i = place; i < kBlocks; i += kThreads) v = Op::template combine<T>(v, wait_for<T>(offers + i, row));
  return v;
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

}  // namespace solstice::rows
