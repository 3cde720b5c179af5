// An operand of a main loop that comes as boxes by the copy engine: one thread fills the slots of a ring with its
// planes and, where they have any, their scales.
#pragma once

#include "copy/tma.h"
#include "mainloop/math.h"
#include "mma/descriptor.h"
#include "pipeline/ring.h"

// part: producer

namespace solstice::mainloop {

// A box for this block, or, where kShare blocks need the same operand, this block's part of it for all.
template <int kShare>
SOLSTICE_DEVICE void load_shared_box(u32 to, const TensorMap* map, int x, int y, int z, u32 full) {
  if constexpr (kShare > 1)
    copy::load_box_multicast(to, map, x, y, z, full, (1 << kShare) - 1);
  else
    copy::load_box(to, map, x, y, z, full);
}

// A stage of a plane: kLines lines of it from `line` on.
template <mma::Major kMajor, int kShare, int kLines>
SOLSTICE_DEVICE void load_plane(u32 to, const TensorMap* map, int k, int line, int z, u32 full, u32 rank) {
  constexpr int kRows = (kMajor == mma::Major::kK ? kLines : mma::kGroupRows) / kShare;
  const int first = kShare > 1 ? static_cast<int>(rank) * kRows : 0;
  if constexpr (kMajor == mma::Major::kK) {
    load_shared_box<kShare>(to + first * mma::kRowBytes, map, k, line + first, z, full);
  } else {
#pragma unroll
    for (int g = 0; g < ceil_div(kLines, mma::kGroupRows); ++g)
      load_shared_box<kShare>(to + g * mma::kGroupBytes + first * mma::kRowBytes, map, line + g * mma::kGroupRows,
                              k + first, z, full);
  }
}

// An operand in memory.
struct BoxOperand {
  const TensorMap* map;
  const u8* scales;  // [batch][stage][scale_stride]
  int scale_stride;
};

// The contents of a stage's slots: kLines lines of one operand in each of kParts slots, or a part of a slot each of
// two operands (kHalvesOfSlots), or a slot each (kSlots).
enum class Operands { kOne, kHalvesOfSlots, kSlots };

template <class Math, mma::Major kMajor, int kShare, int kLines, int kParts, int kScaleBytes, class Ring, class Scales,
          Operands kOperands = Operands::kOne>
struct BoxSource {
  static constexpr int kPlaneBytes = kLines * mma::kRowBytes, kScalesBytes = Math::kScaled ? kScaleBytes * kLines : 0,
                       kStageK = mma::kRowBytes / Math::Type::kBytes;

  Ring& ring;
  Scales& scales;
  BoxOperand one, second;
  int stages;
  u32 rank;

  // Stages first .. last - 1 of the lines from `line` on.
  SOLSTICE_DEVICE void load(int batch, int line, int first, int last) const {
    for (int s = first; s < last; ++s) {
#pragma unroll 1
      for (int part = 0; part < kParts; ++part, ring.advance(), scales.advance()) load_slot(batch, line, s, part);
    }
  }

 private:
  SOLSTICE_DEVICE void load_slot(int batch, int line, int stage, int part) const {
    const bool of_second = kOperands == Operands::kSlots && part == 1;
    const int at = kOperands == Operands::kOne ? line + part * kLines : line;
    ring.wait_empty();
    if constexpr (Math::kScaled) ptx::fence_async_proxy();
    ptx::barrier_arrive_expect(ring.full(), Math::kPlanes * kPlaneBytes + kScalesBytes);
#pragma unroll
    for (int plane = 0; plane < Math::kPlanes; ++plane) {
      const u32 to = ring.address() + plane * kPlaneBytes;
      const int k = stage * kStageK, z = batch * Math::kPlanes + plane;
      if constexpr (kOperands == Operands::kHalvesOfSlots) {
        load_plane<kMajor, kShare, kLines / 2>(to, one.map, k, at, z, ring.full(), rank);
        load_plane<kMajor, kShare, kLines / 2>(to + kLines / 2 * mma::kRowBytes, second.map, k, at, z, ring.full(),
                                               rank);
      } else {
        load_plane<kMajor, kShare, kLines>(to, of_second ? second.map : one.map, k, at, z, ring.full(), rank);
      }
    }
    if constexpr (Math::kScaled) {
      const u8* from = (of_second ? second.scales : one.scales) +
                       ((static_cast<i64>(batch) * stages + stage) * one.scale_stride + at) * kScaleBytes;
      copy::load_bytes(scales.address(), from, kScalesBytes, ring.full());
    }
  }
};

}  // namespace solstice::mainloop
