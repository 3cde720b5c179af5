// Arithmetic on two halves at once.
#pragma once

#include "ptx/types.h"

namespace solstice::ptx {

SOLSTICE_DEVICE u32 add_half2(u32 a, u32 b) {
  u32 r;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// clamp(|a| * b + c, 0, 1); NaN gives 0.
SOLSTICE_DEVICE u32 ramp_half2(u32 a, u32 b, u32 c) {
  u32 r;
  asm("{\n.reg .b32 m;\nabs.f16x2 m, %1;\nfma.rn.sat.f16x2 %0, m, %2, %3;\n}" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}

// {low(a) + high(a), low(b) + high(b)}
SOLSTICE_DEVICE u32 fold_half2(u32 a, u32 b) {
  u32 low, high;
  asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(low) : "r"(a), "r"(b));
  asm("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(high) : "r"(a), "r"(b));
  return add_half2(low, high);
}

// min(|a|, b) of both halves; a NaN in `a` gives b.
SOLSTICE_DEVICE u32 least_magnitude(u32 a, u32 b) {
  u32 r;
  asm("{\n.reg .b32 m;\nabs.f16x2 m, %1;\nmin.f16x2 %0, m, %2;\n}" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// max(|a|, b), NaN wins.
SOLSTICE_DEVICE float max_magnitude(float a, float b) {
  float r;
  asm("{\n.reg .f32 m;\nabs.f32 m, %1;\nmax.NaN.f32 %0, m, %2;\n}" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

SOLSTICE_DEVICE float one_if_nonzero(float a) {
  float r;
  asm("set.ne.f32.f32 %0, %1, 0f00000000;" : "=f"(r) : "f"(a));
  return r;
}

}  // namespace solstice::ptx
