// Prefixes and linear recurrences along rows, tile by tile. A tile is kUnroll vectors of kVector elements a thread;
// vectors are numbered along the row with the lanes of a warp fastest, then `u`, then warps, so that loads of a warp
// are contiguous. The order of every combination follows from these numbers: results do not depend on timing.
#pragma once

#include "reduction/reduce.h"

namespace solstice::scan {

// A step of a recurrence, h -> a*h + b, and several of them as one.
template <typename T>
struct Step {
  T a, b;
};
struct Linear {
  template <typename S>
  static SOLSTICE_DEVICE S start() {
    return {1, 0};
  }
  // A product of many factors may overflow where the state is 0 and stays it.
  template <typename S>
  static SOLSTICE_DEVICE S combine(S first, S then) {
    return {first.a * then.a, first.b == 0 ? then.b : then.a * first.b + then.b};
  }
};
// An infinite or undefined factor makes the state NaN even if that is 0 (combine).
template <typename T>
SOLSTICE_DEVICE Step<T> step(T a, T b) {
  return {a, a * T(0) + b};
}

// The prefix of all tiles that are done.
template <class Op, typename T>
struct Carry {
  T value = Op::template start<T>();
  SOLSTICE_DEVICE T get() const { return value; }
  SOLSTICE_DEVICE void add(T more) { value = Op::template combine<T>(value, more); }
};
// A sum keeps what each addition rounds away, so that the error of a long row does not grow with the number of its
// tiles.
template <>
struct Carry<reduction::Sum, float> {
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
template <typename T>
SOLSTICE_DEVICE Step<T> shuffle_up(Step<T> v, int distance) {
  return {shuffle_up(v.a, distance), shuffle_up(v.b, distance)};
}
SOLSTICE_DEVICE reduction::Scaled shuffle_up(reduction::Scaled v, int distance) {
  return {shuffle_up(v.value, distance), shuffle_up(v.exponent, distance)};
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

template <int kLanes, typename T>
SOLSTICE_DEVICE Step<T> shuffle_from(Step<T> v, int source) {
  return {shuffle_from<kLanes>(v.a, source), shuffle_from<kLanes>(v.b, source)};
}
template <int kLanes>
SOLSTICE_DEVICE reduction::Scaled shuffle_from(reduction::Scaled v, int source) {
  return {shuffle_from<kLanes>(v.value, source), shuffle_from<kLanes>(v.exponent, source)};
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

// The prefix of the warps before this one, and that of all. One barrier: the caller alternates between two regions of
// kWarps slots, so that a region is written again only behind the next tile's barrier.
template <class Op, int kWarps, typename T>
SOLSTICE_DEVICE T scan_warps(T& all, int lane, int warp, T* slots) {
  if (lane == 0) slots[warp] = all;
  reduction::sync_block();
  const T inclusive = scan_lanes<Op, 32>(lane < kWarps ? slots[lane] : Op::template start<T>(), lane);
  const T before = shuffle_from<32>(inclusive, warp == 0 ? 0 : warp - 1);
  all = shuffle_from<32>(inclusive, kWarps - 1);
  return warp == 0 ? Op::template start<T>() : before;
}

// A row of one group: the prefix before a tile of it is what the group has seen.
template <class Op, typename T>
struct Alone {
  Carry<Op, T> carry;
  SOLSTICE_DEVICE T before(T all) {
    const T out = carry.get();
    carry.add(all);
    return out;
  }
};

// kReverse: a thread's vectors are in memory's order, and the row is walked from its end.
template <bool kReverse, int kVector>
SOLSTICE_DEVICE constexpr int place(int i) {
  return kReverse ? kVector - 1 - i : i;
}

// Prefixes of each of a thread's vectors by itself, in place.
template <class Op, bool kReverse, int kVector, typename T>
SOLSTICE_DEVICE void scan_vector(T (&t)[kVector]) {
#pragma unroll
  for (int i = 1; i < kVector; ++i) {
    T& v = t[place<kReverse, kVector>(i)];
    v = Op::template combine<T>(t[place<kReverse, kVector>(i - 1)], v);
  }
}
template <class Op, bool kReverse, int kUnroll, int kVector, typename T>
SOLSTICE_DEVICE void scan_vectors(T (&t)[kUnroll][kVector]) {
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) scan_vector<Op, kReverse>(t[u]);
}

// The prefix of the tile before each of a thread's vectors, which hold their own prefixes; returns that of the whole
// tile.
template <class Op, int kLanes, int kWarps, bool kReverse, int kUnroll, int kVector, typename T>
SOLSTICE_DEVICE T scan_tile(const T (&t)[kUnroll][kVector], T (&before)[kUnroll], int lane, int warp, T* slots) {
  T all = Op::template start<T>();
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const T inclusive = scan_lanes<Op, kLanes>(t[u][place<kReverse, kVector>(kVector - 1)], lane);
    const T left = shuffle_up(inclusive, 1);
    before[u] = lane == 0 ? all : Op::template combine<T>(all, left);
    all = Op::template combine<T>(all, shuffle_from<kLanes>(inclusive, kLanes - 1));
  }
  if constexpr (kWarps > 1) {
    const T within = scan_warps<Op, kWarps>(all, lane, warp, slots);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) before[u] = Op::template combine<T>(within, before[u]);
  }
  return all;
}

// A vector that holds its own prefixes, behind `base`.
template <class Op, bool kReverse, bool kExclusive, int kVector, typename T>
SOLSTICE_DEVICE void put_behind(T (&t)[kVector], T base) {
#pragma unroll
  for (int i = kVector - 1; i >= 0; --i) {
    T& v = t[place<kReverse, kVector>(i)];
    if constexpr (kExclusive) {
      v = i == 0 ? base : Op::template combine<T>(base, t[place<kReverse, kVector>(i - 1)]);
    } else {
      v = Op::template combine<T>(base, v);
    }
  }
}

// Replaces the elements of a tile by their prefixes. `history` is told what the whole tile holds and says what comes
// before it.
template <class Op, int kLanes, int kWarps, bool kReverse, bool kExclusive, int kUnroll, int kVector, typename T,
          class History>
SOLSTICE_DEVICE void tile(T (&t)[kUnroll][kVector], History& history, int lane, int warp, T* slots) {
  T before[kUnroll];
  scan_vectors<Op, kReverse>(t);
  const T all = scan_tile<Op, kLanes, kWarps, kReverse>(t, before, lane, warp, slots);
  const T others = history.before(all);
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    put_behind<Op, kReverse, kExclusive>(t[u], Op::template combine<T>(others, before[u]));
}

// The same where neighbouring lanes hold different rows, kVector each: kGroup threads, kApart from each other, take
// parts of a tile's steps, `u` along them. `slots` has room for kVector values of every thread.
template <class Op, int kUnroll, int kVector, typename T>
SOLSTICE_DEVICE void scan_steps(T (&t)[kUnroll][kVector]) {
#pragma unroll
  for (int u = 1; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) t[u][i] = Op::template combine<T>(t[u - 1][i], t[u][i]);
  }
}

// One barrier, as in scan_warps.
template <class Op, int kGroup, int kApart, int kUnroll, int kVector, typename T>
SOLSTICE_DEVICE void scan_parts(const T (&t)[kUnroll][kVector], T (&before)[kVector], T (&all)[kVector], int part,
                                T* slots) {
  const int column = static_cast<int>(threadIdx.x) % kApart;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    all[i] = t[kUnroll - 1][i];
    before[i] = Op::template start<T>();
  }
  if constexpr (kGroup > 1) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) slots[(part * kVector + i) * kApart + column] = all[i];
    reduction::sync_block();
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      T run = Op::template start<T>();
#pragma unroll 8
      for (int p = 0; p < kGroup; ++p) {
        if (p == part) before[i] = run;
        run = Op::template combine<T>(run, slots[(p * kVector + i) * kApart + column]);
      }
      all[i] = run;
    }
  }
}

// A step behind what its column holds before it, `base` and of this thread's own steps `own`.
template <class Op, bool kExclusive, typename T>
SOLSTICE_DEVICE void put_behind(T& t, T base, T& own) {
  const T before = own;
  own = Op::template combine<T>(own, t);
  t = Op::template combine<T>(base, kExclusive ? before : own);
}

template <class Op, int kGroup, int kApart, bool kExclusive, int kUnroll, int kVector, typename T, class History>
SOLSTICE_DEVICE void tile_columns(T (&t)[kUnroll][kVector], History (&history)[kVector], int part, T* slots) {
  T before[kVector], all[kVector];
  scan_steps<Op>(t);
  scan_parts<Op, kGroup, kApart>(t, before, all, part, slots);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const T base = Op::template combine<T>(history[i].before(all[i]), before[i]);
#pragma unroll
    for (int u = kUnroll - 1; u >= 0; --u) {
      if constexpr (kExclusive) {
        t[u][i] = u == 0 ? base : Op::template combine<T>(base, t[u - 1][i]);
      } else {
        t[u][i] = Op::template combine<T>(base, t[u][i]);
      }
    }
  }
}

}  // namespace solstice::scan
