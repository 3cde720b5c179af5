// The operand that a streamed one is multiplied with: the planes of its lines by the copy engine, a chunk of k in each
// slot of a ring, with their scales where they have any. The thread that fills the slots is one of those that multiply.
#pragma once

#include "mainloop/box_source.h"
#include "mainloop/line_source.h"

// part: producer

namespace solstice::mainloop {

// The planes of a chunk in a slot. A plane of TF32 is two boxes, of half a chunk each.
template <class Math_, mma::Major kMajor_, int kN_>
struct HeldTile {
  using Math = Math_;
  static constexpr mma::Major kMajor = kMajor_;
  static constexpr int kN = kN_, kBoxK = mma::kRowBytes / Math::Type::kBytes;
  static constexpr int kBoxes = kChunkK / kBoxK;  // of a plane
  static constexpr int kBoxBytes =
      kMajor == mma::Major::kK ? kN * mma::kRowBytes : ceil_div(kN, mma::kGroupRows) * mma::kGroupBytes;
  static constexpr int kBytes = Math::kPlanes * kBoxes * kBoxBytes;
  static constexpr int kScaleBytes = Math::kScaled ? kScaleBytesB * kN : 0;
};

// kShare blocks of a cluster need the same planes, and each brings a part of them for all.
template <class Tile, int kSlots, int kShare_>
struct HeldSource {
  static constexpr int kShare = kShare_;
  static_assert(kShare == 1 || Tile::kN % (8 * kShare) == 0, "parts of whole swizzle patterns");
  using Ring = pipeline::Ring<kSlots, Tile::kBytes>;
  // One more slot of scales than of planes: an arrival may pass loads that are still on their way
  // (gemm/tensor_config.h). It also stands for a fence of the filling thread, which would lose 1 % by it: a slot is
  // filled after an arrival behind the use of its values.
  using Scales = pipeline::SideSlots<kSlots + 1, Tile::kScaleBytes>;
  static constexpr int kAhead = kSlots - 1;  // chunks on their way while one is multiplied

  BoxOperand x;
  int batch, line;  // the first of the tile's
  int stages;       // chunks of the whole operand
  Chunks chunks;
  u32 rank;
  Ring ring;
  Scales scales;

  SOLSTICE_DEVICE void begin() {
    for (int i = 0; i < kAhead && i < chunks.count; ++i) load(i);
  }
  // While chunk i is multiplied.
  SOLSTICE_DEVICE void advance(int i) {
    if (i + kAhead < chunks.count) load(i + kAhead);
  }

 private:
  SOLSTICE_DEVICE void load(int i) {
    using Math = typename Tile::Math;
    const int stage = chunks.index(i);
    ring.wait_empty();
    ptx::barrier_arrive_expect(ring.full(), Tile::kBytes + Tile::kScaleBytes);
#pragma unroll
    for (int plane = 0; plane < Math::kPlanes; ++plane) {
#pragma unroll
      for (int box = 0; box < Tile::kBoxes; ++box)
        load_plane<Tile::kMajor, kShare, Tile::kN>(ring.address() + (plane * Tile::kBoxes + box) * Tile::kBoxBytes,
                                                   x.map, stage * kChunkK + box * Tile::kBoxK, line,
                                                   batch * Math::kPlanes + plane, ring.full(), rank);
    }
    if constexpr (Math::kScaled) {
      const u8* from = x.scales + ((static_cast<i64>(batch) * stages + stage) * x.scale_stride + line) * kScaleBytesB;
      copy::load_bytes(scales.address(), from, Tile::kScaleBytes, ring.full());
    }
    ring.advance(), scales.advance();
  }
};

}  // namespace solstice::mainloop
