// Integer names and the function qualifier that every device header uses.
//
// Headers free of PTX compile for the host as well (tests run them there), so the qualifier depends on the
// compiler. No system header is included: NVRTC has none, and parsing them would cost more than the kernels
// do.
#pragma once

#if defined(__CUDACC__)
#define SOLSTICE_DEVICE __device__ __forceinline__
#else
#define SOLSTICE_DEVICE inline
#endif

namespace solstice {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// A TMA descriptor (CUtensorMap), passed by value as `const __grid_constant__ TensorMap`.
struct alignas(64) TensorMap {
  u64 words[16];
};

struct alignas(8) Pair {
  float x, y;
};

template <typename T>
SOLSTICE_DEVICE constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
SOLSTICE_DEVICE constexpr T larger(T a, T b) {
  return a > b ? a : b;
}
SOLSTICE_DEVICE constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
SOLSTICE_DEVICE constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }

template <typename A, typename B>
inline constexpr bool kSame = false;
template <typename A>
inline constexpr bool kSame<A, A> = true;

}  // namespace solstice
