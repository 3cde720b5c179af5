// The main loops of a consumer warpgroup whose operands come in two rings: products are added in place (accumulate.h),
// or, with promotion, the partial sums of a stage are added to fp32 sums.
//
// With promotion a warpgroup keeps all its sums in registers and one accumulator of kN columns, which it uses for each
// half of the tile in turn: that is how 128 x 256 with promotion fits the register file.
#pragma once

#include "mainloop/accumulate.h"
#include "mainloop/promotion.h"

// part: main loop

namespace solstice::mainloop {

// `Config`: Math, Product, Rings (stage_rings.h), ScalesA, ScalesB, kN, kHalves, kMayBeEmpty (a tile may have no
// stages).
template <class Config>
struct Wgmma {
  using Math = typename Config::Math;
  using Product = typename Config::Product;
  static constexpr int kN = Config::kN, kHalves = Config::kHalves, kRegisters = kN / 2;
  // Products of a byte take so little time that a promotion between them is felt.
  static constexpr bool kPairs = Math::kPromoted && !Math::kScaled && Math::Type::kBytes == 1 && kHalves == 1;

  typename Config::Rings& rings;
  typename Config::ScalesA& scales_a;
  typename Config::ScalesB& scales_b;

  // The sums of the next `count` stages; `row`: the thread's first row in the tile.
  SOLSTICE_DEVICE void run(float (&sums)[kHalves][kRegisters], int count, int group, int lane, int row) const {
    if constexpr (kPairs)
      run_pairs(sums[0], count, group, lane);
    else if constexpr (Math::kPromoted)
      run_promoted(sums, count, group, lane, row);
    else
      run_plain(sums, count, group, lane);
  }

 private:
  SOLSTICE_DEVICE u32 tile_a(int group) const { return rings.a() + group * 64 * mma::kRowBytes; }

  // The tensor cores serve both warpgroups at once, so a warpgroup's promotion is free only while it takes
  // less than half as long as its products: every instruction of it counts. Half of the scales are read
  // before the products are done, the others while the first half is added.
  SOLSTICE_DEVICE void run_promoted(float (&sums)[kHalves][kRegisters], int count, int group, int lane, int row) const {
    using Promote = Promotion<Math, kN>;
    auto& a = rings.ring_a;
    auto& b = rings.ring_b;
    for (int s = 0; s < count; ++s, a.advance(), scales_a.advance()) {
      a.wait_full();
      const u32 rows = tile_a(group);
      Pair scale_a{1.f, 1.f};
      if constexpr (Math::kScaled) {
        const u32 at = scales_a.address() + kScaleBytesA * row;
        scale_a = {ptx::from_bits(ptx::load_shared_u8(at) << 23),
                   ptx::from_bits(ptx::load_shared_u8(at + 8 * kScaleBytesA) << 23)};
      }
#pragma unroll
      for (int h = 0; h < kHalves; ++h, b.advance(), scales_b.advance()) {
        const u32 at_b = scales_b.address() + 2 * kScaleBytesB * (lane % 4);
        float part[kRegisters];
        Pair scales[2][Promote::kPart];
        b.wait_full();
        mma::fence();
        Product::run(part, rows, b.address(), Begins());
        mma::commit();
        Promote::template load_scales<0>(at_b, scales[0]);
        mma::wait<0>();
        mma::pin(part);
        if (h == kHalves - 1) {
          if constexpr (Math::kScaled)
            ptx::sync_warp();  // not for the arrival: without it the compiler's order is 6 % slower at 2048^3
          rings.release_a(a.slot, lane);
        }
        Promote::template load_scales<1>(at_b, scales[1]);
        Promote::template add<0>(sums[h], part, scale_a, scales[0]);
        ptx::sync_warp();
        rings.release_b(b.slot, lane);
        Promote::template add<1>(sums[h], part, scale_a, scales[1]);
      }
    }
  }

  // Two chunks a time, an accumulator each: the sums of the first are added while the second is multiplied, and all
  // that another warpgroup has to cover is the addition of the second.
  SOLSTICE_DEVICE void run_pairs(float (&sums)[kRegisters], int count, int group, int lane) const {
    const auto multiply_chunk = [&](float(&part)[kRegisters]) {
      multiply_stage<Product>(part, rings, 0, group, AsItCame(), Begins());
    };
    const auto add_chunk = [&](float(&part)[kRegisters], const typename Config::Rings::Slots& slots) {
      mma::pin(part);
      rings.release(slots, lane);
#pragma unroll
      for (int i = 0; i < kRegisters; ++i) sums[i] += part[i];
    };
    int s = 0;
    for (; s + 1 < count; s += 2) {
      float part[2][kRegisters];
      const typename Config::Rings::Slots first = rings.slots();
      multiply_chunk(part[0]);
      rings.advance();
      multiply_chunk(part[1]);
      mma::wait<1>();
      add_chunk(part[0], first);
      mma::wait<0>();
      add_chunk(part[1], rings.slots());
      rings.advance();
    }
    if (s < count) {
      float part[kRegisters];
      multiply_chunk(part);
      mma::wait<0>();
      add_chunk(part, rings.slots());
      rings.advance();
    }
  }

  SOLSTICE_DEVICE void run_plain(float (&sums)[kHalves][kRegisters], int count, int group, int lane) const {
    static_assert(Math::kPromoted || kHalves == 1, "without promotion one instruction covers the tile's columns");
    if (Config::kMayBeEmpty && count == 0) return;
    accumulate<Product, FromZeros, 1>(sums[0], rings, 0, count, group, lane);
  }
};

}  // namespace solstice::mainloop
