// stream.h with three planes of bf16, which has fp32's exponents: no scales, and nothing to count of what is streamed.
// Both operands are lifted by a power of two, so that planes hold the smallest values too (math.h), and sums are
// lowered by both before they are stored. Large values overflow: a sum that is not finite, because of one or because an
// operand is not, leaves a guard word that sends the whole product to the fallback. There Inf and NaN come out where
// fp32 has them.
//
// A warp has fragments of two half chunks of 32 k, three planes each: while the tensor cores multiply one, the next is
// split. Sums are promoted after each half. What is of the size of the result is then added in two steps between
// promotions, all the small products before it (tensor.h).
#pragma once

#include "gemm/stream.h"

namespace solstice::gemm {

template <class Config>
struct StreamBf16 : Stream<Config> {
  using Base = Stream<Config>;
  using Base::kN, Base::kRegisters, Base::kSlots;
  using typename Base::RingHeld;
  static constexpr int kHalfSteps = mma::kSteps / 2;  // instructions along k in half a chunk

  using Base::Base;

  // Rows lane/4 and lane/4 + 8 of the warp's tile: k 32 * half + 8q + 2(lane%4) and the next, q = 0..3.
  SOLSTICE_DEVICE static void fetch_half(float (&v)[2][8], u32 slot, int half, int lane) {
    const int k = 32 * half + 2 * (lane % 4);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = lane / 4 + 8 * r;
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const Pair x = Base::fetch_pair(Base::address_of(slot, row, 8 * q + k));
        v[r][2 * q] = x.x, v[r][2 * q + 1] = x.y;
      }
    }
  }

  using Fragments = u32[3][kHalfSteps][4];  // [plane][instruction][register]
  SOLSTICE_DEVICE static void split_half(Fragments& a, float (&v)[2][8]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      lift<typename Config::Math>(v[r]);
#pragma unroll
      for (int plane = 0; plane < 3; ++plane) {
        u32 words[2 * kHalfSteps];
        take_plane<mma::BF16, false>(v[r], words);
#pragma unroll
        for (int j = 0; j < kHalfSteps; ++j) a[plane][j][r] = words[2 * j], a[plane][j][r + 2] = words[2 * j + 1];
      }
    }
  }

  template <bool kFresh>
  SOLSTICE_DEVICE static void multiply(float (&d)[kRegisters], const u32 (&a)[kHalfSteps][4], u32 held, int half) {
#pragma unroll
    for (int k = 0; k < kHalfSteps; ++k)
      mma::WgmmaHeld<mma::BF16, kN, Config::kMajorHeld == mma::Major::kMN>::run(
          d, a[k], mma::descriptor<Config::kMajorHeld>(held, half * kHalfSteps + k), !(kFresh && k == 0));
  }
  // The small products first, as in tensor.h.
  SOLSTICE_DEVICE static void multiply_half(float (&d)[kRegisters], const Fragments& a, u32 held, int half) {
    multiply<true>(d, a[2], held, half);
    multiply<false>(d, a[0], held + 2 * Config::kPlaneHeld, half);
    multiply<false>(d, a[1], held + Config::kPlaneHeld, half);
    multiply<false>(d, a[1], held, half);
    multiply<false>(d, a[0], held + Config::kPlaneHeld, half);
    multiply<false>(d, a[0], held, half);
  }

  SOLSTICE_DEVICE static bool all_finite(const float (&sums)[kRegisters]) {
    float zero = 0;  // NaN from the first sum on that is not finite
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) zero += sums[i] * 0.f;
    return zero == 0.f;
  }

  SOLSTICE_DEVICE void consume() const {
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const int first_row = this->row0 + warp * 16, count = this->count;
    const u32 slots = this->shared + Config::kOffsetStream + warp * kSlots * Config::kSlotBytes;
    RingHeld held = this->ring(), loads = this->ring();
    typename Base::Scales none = this->scales();
    const u32 skipped = 4 * this->shift_of(first_row + lane / 4);
    float sums[kRegisters] = {};
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      if (i < count) this->prefetch(i, slots + i * Config::kSlotBytes, first_row, lane);
      copy::async_commit();
    }
    if (threadIdx.x == 0) {
      ptx::wait_for_previous_kernel();
      for (int i = 0; i < Config::kSlotsHeld - 1 && i < count; ++i) this->load_held(i, loads, none);
    }
    ptx::sync_warp();
    // Half a chunk as fragments; with its second half the slot is free again.
    int slot = 0;
    const auto take = [&](int c, int half, Fragments& a) {
      const u32 at = slots + slot * Config::kSlotBytes;
      float v[2][8];
      if (half == 0) {
        copy::async_wait<kSlots - 1>();
        ptx::sync_warp();
      }
      fetch_half(v, at + skipped, half, lane);
      if (half == 1) {
        ptx::sync_warp();
        if (c + kSlots < count) this->prefetch(c + kSlots, at, first_row, lane);
        copy::async_commit();
        slot = slot + 1 == kSlots ? 0 : slot + 1;
      }
      split_half(a, v);
    };
    Fragments a[2];
    if (count > 0) take(0, 0, a[0]);
    for (int c = 0; c < count; ++c) {
      held.wait_full();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float part[kRegisters];
        mma::fence();
        multiply_half(part, a[half], held.address(), half);
        mma::commit();
        if (half == 0)
          take(c, 1, a[1]);
        else if (c + 1 < count)
          take(c + 1, 0, a[0]);
        if (half == 0 && threadIdx.x == 0 && c + Config::kSlotsHeld - 1 < count)
          this->load_held(c + Config::kSlotsHeld - 1, loads, none);
        ptx::sync_warp();
        mma::wait<0>();
        mma::pin(part);
#pragma unroll
        for (int i = 0; i < kRegisters; ++i) sums[i] += part[i];
      }
      ptx::sync_warp();
      this->release(held, lane);
      held.advance();
    }
    const u32 lost = all_finite(sums) ? 0u : 0x00ffffffu;  // deeper than any other operand could make good
    constexpr float kLowered = 1.f / (1ull << 2 * Config::Math::kLift);
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) sums[i] *= kLowered;
    this->store(sums, first_row + lane / 4, this->column0 + 2 * (lane % 4));
    GuardWord* words = reinterpret_cast<GuardWord*>(ptx::dynamic_shared() + Config::kOffsetWords);
    store_guard<Config::kThreads>(words, this->p.guard, static_cast<int>(blockIdx.x), {lost, lost});
  }
};

template <class Config>
SOLSTICE_DEVICE void run_stream_bf16(const TensorMap& map, const StreamProblem& p) {
  run_stream<Config, StreamBf16>(map, p);
}

}  // namespace solstice::gemm
