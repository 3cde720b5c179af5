// Reductions over the threads that share a row. Every thread gets the result, bit for bit the same one: the order of
// combination depends on thread numbers alone.
//
// Three arrangements: a group of up to 32 neighbouring lanes (shuffles only); whole warps of one block or of a cluster
// (every warp publishes its value, one barrier, everyone folds the published values); columns of threads (a block
// whose lanes hold different rows: every thread publishes). Published values live in `slots` of shared memory, one
// region a reduction, so that no second barrier is needed.
#pragma once

#include "math/scalar.h"

namespace solstice::reduction {

using math::infinity;

struct Sum {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return T(0);
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    return a + b;
  }
};
struct Prod {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return T(1);
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    return a * b;
  }
};

// A product of floats as value * 2^exponent, |value| from 1 to 2 (or 0, Inf, NaN), so that it never overflows on its
// way: of plain products, one that has overflowed times one that has underflowed is NaN in one order, not in another.
struct Scaled {
  float value;
  int exponent;

  Scaled() = default;
  SOLSTICE_DEVICE Scaled(float v, int e) : value(v), exponent(e) {}
  SOLSTICE_DEVICE explicit Scaled(float v) : value(v), exponent(0) {
    if (v != 0.0f && math::is_finite(v) && (math::bits_of(v) & 0x7f800000u) == 0) value *= 0x1p32f, exponent = -32;
    const u32 bits = math::bits_of(value), biased = bits >> 23 & 0xffu;
    if (biased == 0 || biased == 0xffu) return;
    exponent += static_cast<int>(biased) - 127;
    value = math::float_of((bits & 0x807fffffu) | 0x3f800000u);
  }
  // Rounded once: the first of the two factors leaves the value normal.
  SOLSTICE_DEVICE float get() const {
    const int all = limited(exponent, 300), first = limited(all, 126);
    return value * power_of_two(first) * power_of_two(limited(all - first, 126));
  }

 private:
  static SOLSTICE_DEVICE int limited(int e, int most) { return e < -most ? -most : e > most ? most : e; }
  static SOLSTICE_DEVICE float power_of_two(int e) { return math::float_of(static_cast<u32>(e + 127) << 23); }
};
struct ScaledProd {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return T(1.0f, 0);
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    const float value = a.value * b.value;
    const bool carries = (math::bits_of(value) & 0x7fffffffu) >= 0x40000000u && math::is_finite(value);
    return T(carries ? value * 0.5f : value, a.exponent + b.exponent + (carries ? 1 : 0));
  }
};

template <typename T>
SOLSTICE_DEVICE T lowest() {
  if constexpr (kSame<T, int>)
    return -0x7fffffff - 1;
  else if constexpr (kSame<T, i64>)
    return -0x7fffffffffffffffLL - 1;
  else
    return -static_cast<T>(infinity());
}
template <typename T>
SOLSTICE_DEVICE T highest() {
  if constexpr (kSame<T, int>)
    return 0x7fffffff;
  else if constexpr (kSame<T, i64>)
    return 0x7fffffffffffffffLL;
  else
    return static_cast<T>(infinity());
}

struct Max {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return lowest<T>();
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    return math::maximum(a, b);
  }
};
struct Min {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return highest<T>();
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    return math::minimum(a, b);
  }
};
struct Any {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return T(false);
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    return a || b;
  }
};
struct All {
  template <typename T>
  static SOLSTICE_DEVICE T start() {
    return T(true);
  }
  template <typename T>
  static SOLSTICE_DEVICE T combine(T a, T b) {
    return a && b;
  }
};

// A value and where it stands. The first of equal values wins, and the first NaN before all.
template <typename T>
struct Ranked {
  T value;
  int index;
};
constexpr int kNowhere = 0x7fffffff;
template <bool kLargest>
struct Arg {
  template <typename R>
  static SOLSTICE_DEVICE R start() {
    return {kLargest ? lowest<decltype(R::value)>() : highest<decltype(R::value)>(), kNowhere};
  }
  // The next element of an axis that is walked from its begin: `index` is behind all that were taken. What is no better
  // than the start leaves kNowhere, so where nothing else is found, the axis's first element is the answer (found).
  template <typename R>
  static SOLSTICE_DEVICE R take(R a, R next) {
    const bool no_better = kLargest ? next.value <= a.value : next.value >= a.value;
    return !no_better && a.value == a.value ? next : a;
  }
  template <typename R>
  static SOLSTICE_DEVICE int found(R a) {
    return a.index == kNowhere ? 0 : a.index;
  }
  // Without branches: lanes disagree, and each of them would run both sides.
  template <typename R>
  static SOLSTICE_DEVICE R combine(R a, R b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value, first = a.index < b.index;
    const bool better = kLargest ? a.value > b.value : a.value < b.value;
    const bool equal = (a.value == b.value) | (a_nan & b_nan);
    const bool take_a = better | (a_nan & !b_nan) | (equal & first);
    return {take_a ? a.value : b.value, take_a ? a.index : b.index};
  }

  // Unsigned numbers that are larger the better a float is: of -0 and +0 the same, of any NaN the largest.
  static SOLSTICE_DEVICE u32 key(float value) {
    const u32 bits = math::bits_of((kLargest ? value : -value) + 0.0f);
    return value != value ? 0xffffffffu : bits ^ (static_cast<u32>(static_cast<int>(bits) >> 31) | 0x80000000u);
  }
  static SOLSTICE_DEVICE float value_of(u32 key) {
    const float value = math::float_of(key >> 31 != 0 ? key ^ 0x80000000u : ~key);
    return kLargest ? value : -value;
  }
};
using ArgMax = Arg<true>;
using ArgMin = Arg<false>;

template <typename T>
SOLSTICE_DEVICE T shuffle_xor(T v, int distance) {
#if defined(__CUDACC__)
  return __shfl_xor_sync(0xffffffffu, v, distance);
#else
  return host::shuffle(v, static_cast<int>(threadIdx.x % 32) ^ distance);
#endif
}
template <typename T>
SOLSTICE_DEVICE Ranked<T> shuffle_xor(Ranked<T> v, int distance) {
  return {shuffle_xor(v.value, distance), shuffle_xor(v.index, distance)};
}
SOLSTICE_DEVICE Scaled shuffle_xor(Scaled v, int distance) {
  return {shuffle_xor(v.value, distance), shuffle_xor(v.exponent, distance)};
}

#if defined(__CUDACC__)
SOLSTICE_DEVICE u32 warp_max(u32 v) {
  u32 r;
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
  return r;
}
SOLSTICE_DEVICE u32 warp_min(u32 v) {
  u32 r;
  asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
  return r;
}

// part: fold

// Two instructions that reduce over a warp, where ten shuffles would be needed.
template <bool kLargest>
SOLSTICE_DEVICE Ranked<float> reduce_warp(Ranked<float> v) {
  const u32 mine = Arg<kLargest>::key(v.value), best = warp_max(mine);
  const u32 index = warp_min(mine == best ? static_cast<u32>(v.index) : static_cast<u32>(kNowhere));
  return {Arg<kLargest>::value_of(best), static_cast<int>(index)};
}
#endif

// Within groups of kGroup neighbouring lanes, a power of two up to 32.
template <class Op, int kGroup, typename T>
SOLSTICE_DEVICE T reduce_lanes(T v) {
#if defined(__CUDACC__)
  if constexpr (kGroup == 32 && kSame<T, Ranked<float>>) return reduce_warp<kSame<Op, ArgMax>>(v);
#endif
#pragma unroll
  for (int distance = kGroup / 2; distance > 0; distance /= 2) v = Op::template combine<T>(v, shuffle_xor(v, distance));
  return v;
}

SOLSTICE_DEVICE void sync_block() {
#if defined(__CUDACC__)
  __syncthreads();
#else
  host::sync_block();
#endif
}

// All threads of all blocks of the cluster; what was written to shared memory before is visible after.
SOLSTICE_DEVICE void sync_cluster() {
#if defined(__CUDACC__)
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  host::sync_cluster();
#endif
}

// Before a block's shared memory is first written by another block of its cluster, that block must run: every thread
// arrives at its start and waits before the first publish.
SOLSTICE_DEVICE void arrive_at_start() {
#if defined(__CUDACC__)
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
SOLSTICE_DEVICE void wait_for_start() {
#if defined(__CUDACC__)
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}

// Stores to the same place of shared memory in block `rank` of the cluster.
template <typename T>
SOLSTICE_DEVICE void store_remote(T* to, int rank, T v) {
  static_assert(sizeof(T) % 4 == 0);
#if defined(__CUDACC__)
  u32 remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(remote)
      : "r"(static_cast<u32>(__cvta_generic_to_shared(to))), "r"(rank));
  const u32* words = reinterpret_cast<const u32*>(&v);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T) / 4); ++i) {
    asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(remote + 4 * i), "r"(words[i]) : "memory");
  }
#else
  *reinterpret_cast<T*>(host::shared_bytes(rank) + (reinterpret_cast<unsigned char*>(to) - host::shared_bytes())) = v;
#endif
}

// A group of kGroup threads (whole warps) of each of kCluster blocks holds a row; kThreads a block.
// publish, then one barrier for all reductions of the phase, then collect.
template <class Op, int kThreads, int kGroup, int kCluster, typename T>
SOLSTICE_DEVICE void publish(T v, T* slots, int rank) {
  constexpr int kWarps = kThreads / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  v = reduce_lanes<Op, 32>(v);
  if constexpr (kCluster == 1) {
    if (lane == 0) slots[warp] = v;
  } else {
    if (lane < kCluster) store_remote(slots + rank * kWarps + warp, lane, v);
  }
}

template <class Op, int kThreads, int kGroup, int kCluster, typename T>
SOLSTICE_DEVICE T collect(const T* slots) {
  constexpr int kWarps = kThreads / 32;
  constexpr int kMine = kGroup / 32;        // warps of a block that hold this row
  constexpr int kCount = kMine * kCluster;  // values to fold
  constexpr int kWidth = kCount < 32 ? kCount : 32;
  const int first = static_cast<int>(threadIdx.x) / kGroup * kMine;
  const int lane = static_cast<int>(threadIdx.x) % kWidth;
  T v = Op::template start<T>();
#pragma unroll
  for (int i = 0; i < kCount; i += kWidth) {
    const int at = i + lane;
    v = Op::template combine<T>(v, slots[at / kMine * kWarps + first + at % kMine]);
  }
  // All lanes hold values of this row, the same ones every kWidth lanes: of the best it does not matter how often one
  // is looked at.
  return reduce_lanes < Op, kSame<T, Ranked<float>> ? 32 : kWidth > (v);
}

// Threads kLanes apart share a row: slots hold one value a thread.
template <class Op, int kThreads, int kLanes, typename T>
SOLSTICE_DEVICE T collect_columns(const T* slots) {
  T v = Op::template start<T>();
#pragma unroll
  for (int i = 0; i < kThreads / kLanes; ++i) {
    v = Op::template combine<T>(v, slots[i * kLanes + static_cast<int>(threadIdx.x) % kLanes]);
  }
  return v;
}

}  // namespace solstice::reduction
