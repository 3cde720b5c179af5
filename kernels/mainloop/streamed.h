// The main loop of a warpgroup that reads one operand once and multiplies it from registers: while the tensor cores
// multiply a part of a chunk, the next part is read from the warp's own slots and split. All warps do the same; one of
// their threads also fills the slots of the other operand.
#pragma once

#include "mainloop/fragments.h"

// part: main loop

namespace solstice::mainloop {

// `Fragments`: fragments.h; Lines, Held: line_source.h, held_source.h; kReaders: who releases a slot of the held
// operand; Guard: what it counts of the streamed one, for Fragments::split.
template <class Fragments, class Lines, class Held, pipeline::Readers kReaders, class Guard>
struct Streamed {
  static constexpr int kParts = Fragments::kParts, kPartK = kChunkK / kParts;
  static constexpr bool kPromoted = Fragments::kAccumulate == Accumulate::kInPart;

  Lines& lines;
  Held& source;
  typename Held::Ring held;
  typename Held::Scales scales;
  Guard& guard;

  SOLSTICE_DEVICE Streamed(Lines& streamed, Held& held_source, Guard& guard_)
      : lines(streamed), source(held_source), held(held_source.ring), scales(held_source.scales), guard(guard_) {}

  // Adds the products of all chunks to `sums`.
  template <int kSums>
  SOLSTICE_DEVICE void run(float (&sums)[kSums]) {
    const int count = lines.chunks.count;
    lines.begin();
    if (fills()) {
      ptx::wait_for_previous_kernel();
      source.begin();
    }
    ptx::sync_warp();
    Fragments fragments[2];
    if (count > 0) take(fragments[0], 0, 0);
    for (int first = 0; first < count; first += 2 / kParts) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int chunk = first + i / kParts, part = i % kParts;
        if (kParts == 1 && chunk >= count) break;
        float partial[kSums];
        float(&d)[kSums] = kPromoted ? partial : sums;
        if (part == 0) held.wait_full();
        mma::fence();
        fragments[i].multiply(d, held.address(), part);
        mma::commit();
        if (part + 1 < kParts)
          take(fragments[1 - i], chunk, part + 1);
        else if (chunk + 1 < count)
          take(fragments[1 - i], chunk + 1, 0);
        if (part == 0 && fills()) source.advance(chunk);
        ptx::sync_warp();
        mma::wait<0>();
        mma::pin(d);
        if constexpr (kPromoted)
          fragments[i].promote(sums, partial, scales.address() + 2 * kScaleBytesB * (lines.lane % 4));
        if (part == kParts - 1) release();
      }
    }
  }

 private:
  SOLSTICE_DEVICE static bool fills() { return threadIdx.x == 0; }
  // With the last part of a chunk its slot is free again.
  SOLSTICE_DEVICE void take(Fragments& fragments, int chunk, int part) {
    float v[2][16 / kParts];
    if (part == 0) lines.wait();
    lines.load(v, part * kPartK);
    if (part == kParts - 1) lines.advance(chunk);
    fragments.split(v, lines.chunks.valid(chunk), guard);
  }
  SOLSTICE_DEVICE void release() {
    ptx::sync_warp();
    held.template release<Held::kShare, kReaders>(held.slot, lines.lane, static_cast<int>(source.rank));
    held.advance(), scales.advance();
  }
};

}  // namespace solstice::mainloop
