// Elements of an operand that are computed as they are read. A generated functor has
// - static constexpr bool kStored = false, kByK;  // neighbours of load() are k, or lines
// - load(float (&v)[kCount], int batch, int line, int k, int valid): kCount neighbours, of which `valid` exist, the
//   others 0
//
// where a line is a row of A or a column of B. It may be given lines and k beyond the operand, with nothing valid.
#pragma once

#include "ptx/convert.h"
#include "ptx/memory.h"

namespace solstice::gemm {

// An operand that lies in memory as it is multiplied.
struct AsStored {
  static constexpr bool kStored = true;
};

SOLSTICE_DEVICE Pair widen_word(const Half*, u32 word) { return ptx::unpack_half(word); }
SOLSTICE_DEVICE Pair widen_word(const BFloat*, u32 word) { return ptx::unpack_bfloat(word); }

// kCount neighbours from `p`, of which `valid` exist; kVector of them may be loaded at once.
template <int kVector, int kCount, typename T>
SOLSTICE_DEVICE void load_neighbours(float (&v)[kCount], const T* p, int valid) {
  constexpr int kAtOnce = smaller(kVector, kCount);
  if constexpr (kAtOnce > 1) {
    if (valid >= kCount) {
#pragma unroll
      for (int i = 0; i < kCount; i += kAtOnce) {
        if constexpr (kSame<T, float>) {
          float w[kAtOnce];
          ptx::load_global(w, p + i);
#pragma unroll
          for (int j = 0; j < kAtOnce; ++j) v[i + j] = w[j];
        } else {
          u32 words[kAtOnce / 2];
          if constexpr (kAtOnce == 4) {
            const uint2 both = *reinterpret_cast<const uint2*>(p + i);
            words[0] = both.x, words[1] = both.y;
          } else {
            words[0] = *reinterpret_cast<const u32*>(p + i);
          }
#pragma unroll
          for (int j = 0; j < kAtOnce / 2; ++j) {
            const Pair pair = widen_word(p, words[j]);
            v[i + 2 * j] = pair.x, v[i + 2 * j + 1] = pair.y;
          }
        }
      }
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = i < valid ? to_float(p[i]) : 0.f;
}

}  // namespace solstice::gemm
