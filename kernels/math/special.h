// Functions of one real. Errors of the float versions, measured over all floats of the stated range against float64:
// erf 1.2 ulp, tanh 1.4 ulp (tests/unit/codegen/special_test.cpp); the rest are CUDA's own (exp 2, log 1, sin and
// cos 2 ulp by its manual). All map NaN to NaN, Inf to the limit. The host versions use the C library where the
// device uses CUDA's.
//
// Polynomials: weighted minimax (Lawson's iteration on 600 Chebyshev nodes), coefficients rounded to float from the
// lowest up, each time refitting the rest (tools/fit_special.py prints them).
#pragma once

#include "math/library.h"
#include "math/scalar.h"

namespace solstice::math {

SOLSTICE_DEVICE float fused(float a, float b, float c) {
#if defined(__CUDACC__)
  return fmaf(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

// 2^x to 2^-22 relative, for arguments that do not underflow.
SOLSTICE_DEVICE float exp2_fast(float x) {
#if defined(__CUDACC__)
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return std::exp2(x);
#endif
}

SOLSTICE_DEVICE float reciprocal_fast(float x) {
#if defined(__CUDACC__)
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return 1.0f / x;
#endif
}

SOLSTICE_DEVICE float with_sign(float magnitude, float sign) {
  return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

// Near zero x + x*P(x^2), beyond 1 - 2^Q(|x|) with Q = log2(erfc). Both are computed: data mixes the ranges, so a
// branch would run both anyway.
SOLSTICE_DEVICE float erf(float x) {
  const float t = x * x;
  float p = 0x1.4fa924p-14f;
  p = fused(p, t, -0x1.a61810p-11f);
  p = fused(p, t, 0x1.544b08p-8f);
  p = fused(p, t, -0x1.b80124p-6f);
  p = fused(p, t, 0x1.ce2d64p-4f);
  p = fused(p, t, -0x1.812740p-2f);
  p = fused(p, t, 0x1.06eba8p-3f);
  const float near = fused(p, x, x);
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  const float a = magnitude > 4.0f ? 4.0f : magnitude;  // erf(4) rounds to 1; a NaN stays
  float q = 0x1.252ec2p-12f;
  q = fused(q, a, -0x1.1dc444p-8f);
  q = fused(q, a, 0x1.05b7c6p-5f);
  q = fused(q, a, -0x1.32946cp-3f);
  q = fused(q, a, -0x1.d6cd70p-1f);
  q = fused(q, a, -0x1.a07152p+0f);
  q = fused(q, a, -0x1.5107a6p-12f);
  const float far = with_sign(1.0f - exp2_fast(q), x);
  return magnitude < 0.95f ? near : far;
}

// Near zero x + x^3*P(x^2), beyond 1 - 2/(e^2|x| + 1).
SOLSTICE_DEVICE float tanh(float x) {
  const float t = x * x;
  float p = -0x1.828776p-8f;
  p = fused(p, t, 0x1.54c3c2p-6f);
  p = fused(p, t, -0x1.b89abap-5f);
  p = fused(p, t, 0x1.1109bep-3f);
  p = fused(p, t, -0x1.55553ep-2f);
  const float near = fused(p * t, x, x);
  const float magnitude = float_of(bits_of(x) & 0x7fffffffu);
  const float a = magnitude > 10.0f ? 10.0f : magnitude;  // tanh(10) rounds to 1; a NaN stays
  const float e = exp2_fast(a * 2.8853900817779268f);     // 2/log(2)
  const float far = with_sign(fused(-2.0f, reciprocal_fast(e + 1.0f), 1.0f), x);
  return magnitude < 0.6f ? near : far;
}

// Short forms, for values that are rounded to 11 bits or fewer before anything else is done with them (src/codegen/
// short_values.h says which those are). Relative errors, also of small results: 2^-15.2 of 1 + erf down to erf =
// -0.9996 and, as of the long form, an absolute 2^-23 below; 2^-16 of tanh, 2^-17 of the others.
//
// 1 + erf(x) = 2/(1 + 2^-s) with s = x*R(x^2), whose 2^s is the odds of the normal distribution.
SOLSTICE_DEVICE float short_one_plus_erf(float x) {
  const float t = x * x;
  float r = 0x1.3cf760p-22f;
  r = fused(r, t, -0x1.9e44fap-17f);
  r = fused(r, t, 0x1.acb020p-13f);
  r = fused(r, t, -0x1.90228ap-10f);
  r = fused(r, t, -0x1.3df0f0p-10f);
  r = fused(r, t, 0x1.305ce4p-2f);
  r = fused(r, t, 0x1.a0b750p+1f);
  return reciprocal_fast(exp2_fast(fused(-x, r, -1.0f)) + 0.5f);
}

// 2/(1 + e^-2x).
SOLSTICE_DEVICE float short_one_plus_tanh(float x) {
  return reciprocal_fast(exp2_fast(fused(x, -2.8853900817779268f, -1.0f)) + 0.5f);
}

SOLSTICE_DEVICE float short_tanh(float x) {
  const float t = x * x;
  const float near = fused(fused(t, 0x1.07b588p-3f, -0x1.553e5ep-2f) * t, x, x);
  const float far = short_one_plus_tanh(x) - 1.0f;
  return t < 0.0625f ? near : far;
}

SOLSTICE_DEVICE float short_exponential(float x) {
#if defined(__CUDACC__)
  float r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x * 1.4426950408889634f));
  return r;
#else
  return std::exp(x);
#endif
}

// In the whole range, as div.full is; no branches.
SOLSTICE_DEVICE float short_quotient(float a, float b) {
#if defined(__CUDACC__)
  float r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a / b;
#endif
}

SOLSTICE_DEVICE float short_sqrt(float x) {
#if defined(__CUDACC__)
  float r;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return std::sqrt(x);
#endif
}

#if defined(__CUDACC__)
#define SOLSTICE_LIBRARY(name, single, twice)               \
  SOLSTICE_DEVICE float name(float x) { return single(x); } \
  SOLSTICE_DEVICE double name(double x) { return twice(x); }
SOLSTICE_LIBRARY(exponential, ::expf, ::exp)
SOLSTICE_LIBRARY(expm1, ::expm1f, ::expm1)
SOLSTICE_LIBRARY(log, ::logf, ::log)
SOLSTICE_LIBRARY(log1p, ::log1pf, ::log1p)
SOLSTICE_LIBRARY(sqrt, ::sqrtf, ::sqrt)
SOLSTICE_LIBRARY(rsqrt, ::rsqrtf, ::rsqrt)
SOLSTICE_LIBRARY(sin, ::sinf, ::sin)
SOLSTICE_LIBRARY(cos, ::cosf, ::cos)
SOLSTICE_LIBRARY(absolute, ::fabsf, ::fabs)
SOLSTICE_LIBRARY(floor, ::floorf, ::floor)
SOLSTICE_LIBRARY(ceil, ::ceilf, ::ceil)
SOLSTICE_LIBRARY(round, ::rintf, ::rint)
SOLSTICE_LIBRARY(trunc, ::truncf, ::trunc)
#undef SOLSTICE_LIBRARY
SOLSTICE_DEVICE double erf(double x) { return ::erf(x); }
SOLSTICE_DEVICE double tanh(double x) { return ::tanh(x); }
SOLSTICE_DEVICE float power(float a, float b) { return ::powf(a, b); }
SOLSTICE_DEVICE double power(double a, double b) { return ::pow(a, b); }
#else
#define SOLSTICE_LIBRARY(name, function)                           \
  SOLSTICE_DEVICE float name(float x) { return std::function(x); } \
  SOLSTICE_DEVICE double name(double x) { return std::function(x); }
SOLSTICE_LIBRARY(exponential, exp)
SOLSTICE_LIBRARY(expm1, expm1)
SOLSTICE_LIBRARY(log, log)
SOLSTICE_LIBRARY(log1p, log1p)
SOLSTICE_LIBRARY(sqrt, sqrt)
SOLSTICE_LIBRARY(sin, sin)
SOLSTICE_LIBRARY(cos, cos)
SOLSTICE_LIBRARY(absolute, fabs)
SOLSTICE_LIBRARY(floor, floor)
SOLSTICE_LIBRARY(ceil, ceil)
SOLSTICE_LIBRARY(round, nearbyint)
SOLSTICE_LIBRARY(trunc, trunc)
#undef SOLSTICE_LIBRARY
SOLSTICE_DEVICE float rsqrt(float x) { return 1.0f / std::sqrt(x); }
SOLSTICE_DEVICE double rsqrt(double x) { return 1.0 / std::sqrt(x); }
SOLSTICE_DEVICE double erf(double x) { return std::erf(x); }
SOLSTICE_DEVICE double tanh(double x) { return std::tanh(x); }
SOLSTICE_DEVICE float power(float a, float b) { return std::pow(a, b); }
SOLSTICE_DEVICE double power(double a, double b) { return std::pow(a, b); }
#endif

}  // namespace solstice::math
