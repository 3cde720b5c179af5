// An operand as the split pass reads it, and its planes.
//
// Layouts. Operand: `lines` lines of `length` contiguous elements, `stride` elements apart, `batches` of
// them.
//   kK:  lines are the rows of A (columns of B), an element is a k;  planes[batch][plane][line][k]
//   kMN: lines are the k, an element is a row of A (column of B);    planes[batch][plane][k][element]
// Planes have lines of `plane_stride` elements (a multiple of 8, better of 64: 128 bytes; zero-filled).
// scales[batch][chunk][scale_stride]. One guard word a block: no initial value is needed, and nothing is left
// behind.
#pragma once

#include "gemm/chunk.h"
#include "gemm/prologue.h"
#include "mainloop/planes.h"

namespace solstice::gemm {

inline constexpr int kSplitThreads = 256;

template <typename T, class Made = AsStored>
struct Operand {
  const T* data;
  i64 batch_stride, stride;  // elements
  int batches, lines, length;
  u8* planes;
  int plane_stride;  // elements
  u8* scales;
  int scale_stride;  // elements
  GuardWord* guard;
  Made made = {};

  // Neighbours that lie at `from`, or are computed.
  template <int kVector, int kCount>
  SOLSTICE_DEVICE void load(float (&v)[kCount], const T* from, int batch, int line, int element, int valid) const {
    if constexpr (Made::kStored)
      load_neighbours<kVector>(v, from, valid);
    else
      made.load(v, batch, Made::kByK ? line : element, Made::kByK ? element : line, valid);
  }

  // The inverse scale of (chunk, line or element), a power of two: as a float, or its exponent.
  template <int kBytes>
  SOLSTICE_DEVICE void store_scale(i64 chunk, int at, const Scale& scale) const {
    u8* to = scales + (chunk * scale_stride + at) * kBytes;
    if constexpr (kBytes == 4)
      *reinterpret_cast<u32*>(to) = scale.inverse_float_bits();
    else
      *to = static_cast<u8>(scale.inverse_float_bits() >> 23);
  }
  template <class Math>
  SOLSTICE_DEVICE i64 plane_bytes() const {
    return static_cast<i64>(lines) * plane_stride * Math::Type::kBytes;
  }
  template <class Math>
  SOLSTICE_DEVICE u8* plane_at(int batch, int line, int element) const {
    const i64 row = static_cast<i64>(batch) * Math::kPlanes * lines + line;
    return planes + (row * plane_stride + element) * Math::Type::kBytes;
  }
};

SOLSTICE_DEVICE void store_block_guard(GuardWord* guard, int block, GuardWord word) {
  __shared__ GuardWord words[kSplitThreads / 32];
  store_guard<kSplitThreads>(words, guard, block, word);
}

}  // namespace solstice::gemm
