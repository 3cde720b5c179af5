// Splitting values into planes: plane 0 is the value rounded to the element type, each next plane what is
// still missing.
#pragma once

#include "mainloop/math.h"
#include "ptx/convert.h"
#include "ptx/memory.h"

namespace solstice::mainloop {

SOLSTICE_DEVICE u32 round_pair(mma::F16, Pair v) { return ptx::pack_half(v.x, v.y); }
SOLSTICE_DEVICE u32 round_pair(mma::BF16, Pair v) { return ptx::pack_bfloat(v.x, v.y); }
SOLSTICE_DEVICE Pair widen_pair(mma::F16, u32 v) { return ptx::unpack_half(v); }
SOLSTICE_DEVICE Pair widen_pair(mma::BF16, u32 v) { return ptx::unpack_bfloat(v); }

// The rest of an infinite value: 0, or Inf - Inf, where nobody reads the products then.
enum class RestOfInfinity { kZero, kNaN };

// kCount words (pairs) of the next plane; `v` keeps the rest.
template <class Type, RestOfInfinity kRest, int kCount>
SOLSTICE_DEVICE void take_plane(float (&v)[2 * kCount], u32 (&words)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    words[i] = round_pair(Type{}, {v[2 * i], v[2 * i + 1]});
    const Pair back = widen_pair(Type{}, words[i]);
    const float x = v[2 * i] - back.x;
    const float y = v[2 * i + 1] - back.y;
    v[2 * i] = kRest == RestOfInfinity::kZero && v[2 * i] == back.x ? 0.f : x;
    v[2 * i + 1] = kRest == RestOfInfinity::kZero && v[2 * i + 1] == back.y ? 0.f : y;
  }
}

template <class Math, int kCount>
SOLSTICE_DEVICE void lift(float (&v)[kCount]) {
  if constexpr (Math::kLift > 0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] *= static_cast<float>(1 << Math::kLift);
  }
}

// Stores two or four consecutive values as planes of `Math`, `plane_bytes` apart.
template <class Math, int kCount>
SOLSTICE_DEVICE void store_planes(u8* to, i64 plane_bytes, float (&v)[kCount]) {
  lift<Math>(v);
#pragma unroll
  for (int p = 0; p < Math::kPlanes; ++p) {
    u8* at = to + p * plane_bytes;
    if constexpr (kSame<typename Math::Type, mma::TF32>) {
      u32 r[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float high = ptx::round_tf32(v[j]);
        r[j] = ptx::bits_of(high);
        v[j] = v[j] == high ? 0.f : v[j] - high;
      }
      // In every group of eight, k 2t lies at t and k 2t + 1 at t + 4: a thread of fragments_tf32.h then finds the two
      // that it owns beside each other. Products do not depend on the order of k, as long as both operands have the
      // same.
      u8* const group = at - (reinterpret_cast<u64>(at) & 16) / 2;
      ptx::store_global(group, r[0], r[2]);
      ptx::store_global(group + 16, r[1], r[3]);
    } else {
      u32 r[kCount / 2];
      take_plane<typename Math::Type, Math::kScaled ? RestOfInfinity::kNaN : RestOfInfinity::kZero>(v, r);
      if constexpr (kCount == 4)
        ptx::store_global(at, r[0], r[1]);
      else
        ptx::store_global(at, r[0]);
    }
  }
}

}  // namespace solstice::mainloop
