// A streamed operand as fragments of wgmma's register operand, one policy for each math of streamed.h:
//
//   static constexpr int kParts;               // of a chunk, which are multiplied one after the other
//   static constexpr Unaligned kUnaligned;     // how its lines are copied
//   static constexpr Accumulate kAccumulate;   // where the tensor cores add
//   // Rows lane/4 and lane/4 + 8 of a part, of whose chunk `valid` k exist.
//   template <class Guard> void split(float (&v)[2][16 / kParts], int valid, Guard& guard);
//   void multiply(float (&d)[Tile::kN / 2], u32 held, int part) const;   // `held`: the slot of the other operand
//   void promote(float (&sums)[Tile::kN / 2], const float (&part)[Tile::kN / 2], u32 scales) const;  // kInPart
//   static void finish(float (&sums)[Tile::kN / 2]);                     // once, behind all chunks
//
// `Tile`: HeldTile.
#pragma once

#include "mainloop/planes.h"
#include "mainloop/register_product.h"

// part: main loop

namespace solstice::mainloop {

// In the sums themselves, or in a part's, which are promoted.
enum class Accumulate { kInSums, kInPart };

template <class Math, class Tile>
struct Fragments;

// Planes of 16 k an instruction [plane][instruction][register], of row lane/4 + 8r; `v` keeps the rest. An infinite
// value leaves NaN in the rest: a guard sees the sums, or the value (stream_guard.h).
template <class Type, int kPlanes, int kCount>
SOLSTICE_DEVICE void take_planes(u32 (&planes)[kPlanes][kCount][4], float (&v)[4 * kCount], int r) {
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane) {
    u32 words[2 * kCount];
    take_plane<Type, TooLarge::kInfinity>(v, words);
#pragma unroll
    for (int j = 0; j < kCount; ++j) planes[plane][j][r] = words[2 * j], planes[plane][j][r + 2] = words[2 * j + 1];
  }
}

}  // namespace solstice::mainloop
