// Float formats by PTX, without cuda_fp16.h (parsing it takes longer than compiling a small kernel).
#pragma once

#include "ptx/types.h"

namespace solstice {

// Storage formats. A Half is a bit pattern; arithmetic is done in float.
struct Half {
  u16 bits;
};
struct BFloat {
  u16 bits;
};

namespace ptx {

SOLSTICE_DEVICE u32 bits_of(float v) { return __float_as_uint(v); }
SOLSTICE_DEVICE float from_bits(u32 v) { return __uint_as_float(v); }

// Two floats rounded to nearest even, `low` in the lower half.
SOLSTICE_DEVICE u32 pack_half(float low, float high) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
SOLSTICE_DEVICE u32 pack_bfloat(float low, float high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
SOLSTICE_DEVICE Pair unpack_half(u32 v) {
  Pair r;
  asm("{\n.reg .f16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}"
      : "=f"(r.x), "=f"(r.y)
      : "r"(v));
  return r;
}
SOLSTICE_DEVICE Pair unpack_bfloat(u32 v) { return {from_bits(v << 16), from_bits(v & 0xffff0000u)}; }

// Rounds to TF32 (10 mantissa bits), to nearest, ties away from zero as cvt.rna does.
SOLSTICE_DEVICE float round_tf32(float v) {
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return from_bits(r);
}

}  // namespace ptx

SOLSTICE_DEVICE float to_float(float v) { return v; }
SOLSTICE_DEVICE float to_float(Half v) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v.bits));
  return r;
}
SOLSTICE_DEVICE float to_float(BFloat v) { return ptx::from_bits(static_cast<u32>(v.bits) << 16); }

template <typename T>
SOLSTICE_DEVICE T from_float(float v) {
  if constexpr (kSame<T, Half>)
    return {static_cast<u16>(ptx::pack_half(v, 0.f))};
  else if constexpr (kSame<T, BFloat>)
    return {static_cast<u16>(ptx::pack_bfloat(v, 0.f))};
  else
    return static_cast<T>(v);
}

}  // namespace solstice
