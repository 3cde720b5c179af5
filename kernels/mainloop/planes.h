// Splitting values into planes: plane 0 is the value rounded to the element type, each next plane what is
// still missing.
#pragma once

#include "mainloop/math.h"
#include "mainloop/not_finite.h"
#include "ptx/convert.h"
#include "ptx/memory.h"

namespace solstice::mainloop {

SOLSTICE_DEVICE u32 round_pair(mma::F16, Pair v) { return ptx::pack_half(v.x, v.y); }
SOLSTICE_DEVICE u32 round_pair(mma::BF16, Pair v) { return ptx::pack_bfloat(v.x, v.y); }
SOLSTICE_DEVICE Pair widen_pair(mma::F16, u32 v) { return ptx::unpack_half(v); }
SOLSTICE_DEVICE Pair widen_pair(mma::BF16, u32 v) { return ptx::unpack_bfloat(v); }

// Of a type with fp32's exponents, the largest number.
template <class Type>
inline constexpr float kLargestOf = 0;
template <>
inline constexpr float kLargestOf<mma::BF16> = 0x1.fep127f;
template <>
inline constexpr float kLargestOf<mma::TF32> = 0x1.ffcp127f;

// Whether values too large for the element type become its largest number, or infinity.
enum class TooLarge { kLargest, kInfinity };

template <class Type, TooLarge kTooLarge>
SOLSTICE_DEVICE float to_round(float v) {
  return kTooLarge == TooLarge::kLargest ? limited(v, kLargestOf<Type>) : v;
}

// kCount words (pairs) of the next plane; `v` keeps the rest.
template <class Type, TooLarge kTooLarge, int kCount>
SOLSTICE_DEVICE void take_plane(float (&v)[2 * kCount], u32 (&words)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    words[i] = round_pair(Type{}, {to_round<Type, kTooLarge>(v[2 * i]), to_round<Type, kTooLarge>(v[2 * i + 1])});
    const Pair back = widen_pair(Type{}, words[i]);
    v[2 * i] -= back.x;
    v[2 * i + 1] -= back.y;
  }
}

template <class Math, int kCount>
SOLSTICE_DEVICE void lift(float (&v)[kCount]) {
  if constexpr (Math::kLift > 0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] *= static_cast<float>(1 << Math::kLift);
  }
}

// The next plane of two or four consecutive values; `v` keeps the rest.
template <class Type, TooLarge kTooLarge, int kCount>
SOLSTICE_DEVICE void store_plane(u8* at, float (&v)[kCount]) {
  if constexpr (kSame<Type, mma::TF32>) {
    u32 r[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float high = ptx::round_tf32(to_round<Type, kTooLarge>(v[j]));
      r[j] = ptx::bits_of(high);
      v[j] -= high;
    }
    // In every group of eight, k 2t lies at t and k 2t + 1 at t + 4: a thread of fragments_tf32.h then finds the two
    // that it owns beside each other. Products do not depend on the order of k, as long as both operands have the
    // same.
    u8* const group = at - (reinterpret_cast<u64>(at) & 16) / 2;
    ptx::store_global(group, r[0], r[2]);
    ptx::store_global(group + 16, r[1], r[3]);
  } else {
    u32 r[kCount / 2];
    take_plane<Type, kTooLarge>(v, r);
    if constexpr (kCount == 4)
      ptx::store_global(at, r[0], r[1]);
    else
      ptx::store_global(at, r[0]);
  }
}

// Stores two or four consecutive values as planes of `Math`, `plane_bytes` apart. One plane is the rounded value; of
// several with scales, the range guard sends values that are not finite to the fallback.
template <class Math, int kCount>
SOLSTICE_DEVICE void store_planes(u8* to, i64 plane_bytes, float (&v)[kCount]) {
  using Type = typename Math::Type;
  lift<Math>(v);
  if constexpr (Math::kPlanes == 1 || Math::kScaled) {
#pragma unroll
    for (int p = 0; p < Math::kPlanes; ++p) store_plane<Type, TooLarge::kInfinity>(to + p * plane_bytes, v);
  } else {
    float whole[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) whole[i] = v[i], v[i] = finite_part(v[i]);
    store_plane<Type, TooLarge::kLargest>(to, v);
#pragma unroll
    for (int p = 1; p < Math::kPlanes; ++p) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = p == Math::kPlanes - 1 ? last_part(v[i], whole[i]) : v[i];
      store_plane<Type, TooLarge::kInfinity>(to + p * plane_bytes, v);
    }
  }
}

}  // namespace solstice::mainloop
