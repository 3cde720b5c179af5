// Prefixes along rows, tile by tile. A tile is kUnroll vectors of kVector elements a thread; vectors are numbered along the
// row with the lanes of a warp fastest, then `u`, then warps, so that loads of a warp are contiguous. The order of every
// combination follows from these numbers: results do not depend on timing.
#pragma once

#include "rows/reduce.h"

namespace solstice::scan {

// The prefix of all tiles that are done.
template <class Op, typename T>
struct Carry {
  T value = Op::template start<T>();
  SOLSTICE_DEVICE T get() const { return value; }
  SOLSTICE_DEVICE void add(T more) { value = Op::template combine<T>(value, more); }
};
// A sum keeps what each addition rounds away, so that the error of a long row does not grow with the number of its tiles.
template <>
struct Carry<rows::Sum, float> {
  float value = 0, lost = 0;
  SOLSTICE_DEVICE float get() const { return value + lost; }
  SOLSTICE_DEVICE void add(float more) {
    const float sum = value + more, taken = sum - value;
    const float error = (value - (sum - taken)) + (more - taken);
    lost = error == error ? lost + error : 0.f;  // infinities have no error
    value = sum;
  }
};

// From the lane `distance` before; lanes without one keep their own.
template <typename T>
SOLSTICE_DEVICE T shuffle_up(T v, int distance) {
#if defined(__CUDACC__)
  return __shfl_up_sync(0xffffffffu, v, distance);
#else
  const int lane = static_cast<int>(threadIdx.x % 32);
  return host::shuffle(v, lane < distance ? lane : lane - distance);
#endif
}
// From lane `source` of each group of kLanes.
template <int kLanes, typename T>
SOLSTICE_DEVICE T shuffle_from(T v, int source) {
#if defined(__CUDACC__)
  return __shfl_sync(0xffffffffu, v, source, kLanes);
#else
  return host::shuffle(v, static_cast<int>(threadIdx.x % 32) / kLanes * kLanes + source);
#endif
}

// Inclusive, over groups of kLanes lanes, a power of two up to 32.
template <class Op, int kLanes, typename T>
SOLSTICE_DEVICE T scan_lanes(T v, int lane) {
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const T before = shuffle_up(v, distance);
    if (lane >= distance) v = Op::template combine<T>(before, v);
  }
  return v;
}

// What the warps before this one hold, and what all hold. One barrier: the caller alternates between two regions of
// kWarps slots, so that a region is written again only behind the next tile's barrier.
template <class Op, int kWarps, typename T>
SOLSTICE_DEVICE T scan_warps(T& all, int lane, int warp, T* slots) {
  if (lane == 0) slots[warp] = all;
  rows::sync_block();
  const T inclusive = scan_lanes<Op, 32>(lane < kWarps ? slots[lane] : Op::template start<T>(), lane);
  const T before = shuffle_from<32>(inclusive, warp == 0 ? 0 : warp - 1);
  all = shuffle_from<32>(inclusive, kWarps - 1);
  return warp == 0 ? Op::template start<T>() : before;
}

// Replaces the elements of a tile by their prefixes. kReverse: a thread's vectors are in memory's order, and the row is
// walked from its end.
template <class Op, int kLanes, int kWarps, bool kReverse, bool kExclusive, int kUnroll, int kVector, typename T>
SOLSTICE_DEVICE void tile(T (&t)[kUnroll][kVector], Carry<Op, T>& carry, int lane, int warp, T* slots) {
  const auto at = [](int i) { return kReverse ? kVector - 1 - i : i; };
  T before[kUnroll];
  T all = Op::template start<T>();
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 1; i < kVector; ++i) t[u][at(i)] = Op::template combine<T>(t[u][at(i - 1)], t[u][at(i)]);
    const T inclusive = scan_lanes<Op, kLanes>(t[u][at(kVector - 1)], lane);
    const T left = shuffle_up(inclusive, 1);
    before[u] = lane == 0 ? all : Op::template combine<T>(all, left);
    all = Op::template combine<T>(all, shuffle_from<kLanes>(inclusive, kLanes - 1));
  }
  T prefix = carry.get();
  if constexpr (kWarps > 1) prefix = Op::template combine<T>(prefix, scan_warps<Op, kWarps>(all, lane, warp, slots));
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const T base = Op::template combine<T>(prefix, before[u]);
#pragma unroll
    for (int i = kVector - 1; i >= 0; --i) {
      if constexpr (kExclusive) {
        t[u][at(i)] = i == 0 ? base : Op::template combine<T>(base, t[u][at(i - 1)]);
      } else {
        t[u][at(i)] = Op::template combine<T>(base, t[u][at(i)]);
      }
    }
  }
  carry.add(all);
}

// The same where each thread walks kVector rows of its own, `u` along them.
template <class Op, bool kExclusive, int kUnroll, int kVector, typename T>
SOLSTICE_DEVICE void tile_alone(T (&t)[kUnroll][kVector], Carry<Op, T> (&carry)[kVector]) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const T prefix = carry[i].get();
    T run = Op::template start<T>();
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const T next = Op::template combine<T>(run, t[u][i]);
      t[u][i] = Op::template combine<T>(prefix, kExclusive ? run : next);
      run = next;
    }
    carry[i].add(run);
  }
}

}  // namespace solstice::scan
