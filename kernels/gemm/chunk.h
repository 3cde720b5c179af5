// One chunk of 64 k of a row in the registers of several lanes: its scale, and what the range guard counts of it.
#pragma once

#include "gemm/decide.h"
#include "ptx/convert.h"
#include "ptx/half2.h"
#include "ptx/sync.h"

namespace solstice::gemm {

// The lanes of a warp that share a chunk differ in the bits kFirst, 2 * kFirst, ... kLast of their number.
template <int kFirst, int kLast>
SOLSTICE_DEVICE float lanes_max(float v) {
  for (int d = kFirst; d <= kLast; d *= 2) v = ptx::max_magnitude(__shfl_xor_sync(~0u, v, d), v);
  return v;
}
template <int kFirst, int kLast>
SOLSTICE_DEVICE u32 lanes_add(u32 v) {
  for (int d = kFirst; d <= kLast; d *= 2) v = ptx::add_half2(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

// Scales a lane's 16 elements of a chunk in place, and counts what the guard wants to know of the whole
// chunk, of which `valid` k exist; the others are zero. Lost elements and zeros are looked for only where some element
// of the warp is small enough to be one.
template <int kFirst, int kLast, class Element>
SOLSTICE_DEVICE Scale scale_chunk(Element&& element, int valid, Range& range) {
  float top[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < 16; ++i) top[i % 2] = ptx::max_magnitude(element(i), top[i % 2]);
  const Scale scale(ptx::bits_of(lanes_max<kFirst, kLast>(ptx::max_magnitude(top[0], top[1]))));
  const float s = ptx::from_bits(scale.float_bits());
  u32 counts[4] = {0, 0, 0, 0}, least = 0x7c007c00u;
  constexpr u32 kInverseLimits[4] = {0x14001400u, 0x24002400u, 0x34003400u, 0x44004400u};  // 2^-10, 2^-6, 2^-2, 2^2
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    element(i) *= s;
    element(i + 1) *= s;
    // Not in the order of other uses, or these words would be kept in registers until then.
    const u32 pair = ptx::pack_half(element(i + 1), element(i));
    least = ptx::least_magnitude(pair, least);
#pragma unroll
    for (int j = 0; j < 3; ++j)
      counts[j] = ptx::add_half2(counts[j], ptx::ramp_half2(pair, kInverseLimits[j], 0xbc00bc00u));
  }
  const Pair low = ptx::unpack_half(lanes_add<kFirst, kLast>(ptx::fold_half2(counts[0], counts[1])));
  const Pair smallest = ptx::unpack_half(least);
  if (__all_sync(~0u, smallest.x >= 0.5f && smallest.y >= 0.5f && scale.representable())) {
    const Pair high = ptx::unpack_half(lanes_add<kFirst, kLast>(ptx::fold_half2(counts[2], 0)));
    range.add_kept({low.x, low.y, high.x});
    return scale;
  }
  float nonzero = 0;
#pragma unroll
  for (int i = 0; i < 16; i += 2) {
    nonzero += ptx::one_if_nonzero(element(i)) + ptx::one_if_nonzero(element(i + 1));
    counts[3] = ptx::add_half2(
        counts[3], ptx::ramp_half2(ptx::pack_half(element(i), element(i + 1)), kInverseLimits[3], 0xbc00bc00u));
  }
  const Pair high = ptx::unpack_half(lanes_add<kFirst, kLast>(ptx::fold_half2(counts[2], counts[3])));
  const Pair all = ptx::unpack_half(lanes_add<kFirst, kLast>(ptx::pack_half(nonzero, 0.f)));
  range.add(scale, static_cast<float>(valid), all.x, {low.x, low.y, high.x, high.y});
  return scale;
}

// The same for two chunks at once (v[0], v[1]: a lane's 16 elements of each, shared by the lanes that differ in bits 0
// and 1), in half the instructions: only depth 8 is counted, and what is lost only where a comparison finds any.
SOLSTICE_DEVICE void scale_chunks(float (&v)[2][16], float (&inverse)[2], int valid, RangeAt8& range) {
  u32 least = 0x7c007c00u, counts[2] = {0, 0};
  bool representable = true;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float top[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < 16; ++i) top[i % 2] = ptx::max_magnitude(v[r][i], top[i % 2]);
    const Scale scale(ptx::bits_of(lanes_max<1, 2>(ptx::max_magnitude(top[0], top[1]))));
    const float s = ptx::from_bits(scale.float_bits());
    inverse[r] = ptx::from_bits(scale.inverse_float_bits());
    representable &= scale.representable();
#pragma unroll
    for (int i = 0; i < 16; i += 2) {
      v[r][i] *= s;
      v[r][i + 1] *= s;
      const u32 pair = ptx::pack_half(v[r][i], v[r][i + 1]);
      least = ptx::least_magnitude(pair, least);
      counts[r] = ptx::add_half2(counts[r], ptx::ramp_half2(pair, 0x24002400u, 0xbc00bc00u));  // 2^-6
    }
  }
  const Pair above = ptx::unpack_half(lanes_add<1, 2>(ptx::fold_half2(counts[0], counts[1])));
  const Pair low = ptx::unpack_half(least);
  if (__all_sync(~0u, low.x >= 0.25f && low.y >= 0.25f && representable)) {
    range.add_kept(smaller(above.x, above.y));
    return;
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float nonzero = 0, kept = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      nonzero += ptx::one_if_nonzero(v[r][i]);
      kept += ptx::from_bits(ptx::bits_of(v[r][i]) & 0x7fffffffu) >= 0.25f ? 1.f : 0.f;
    }
    const Pair all = ptx::unpack_half(lanes_add<1, 2>(ptx::pack_half(nonzero, kept)));
    range.add(representable, static_cast<float>(valid), all.x, r == 0 ? above.x : above.y, all.y);
  }
}

// The block's guard word: byte-wise maximum over its first kThreads threads, once at the end. `words`: shared, one a
// warp.
template <int kThreads>
SOLSTICE_DEVICE void store_guard(GuardWord* words, GuardWord* guard, int block, GuardWord word) {
  word = warp_worst(word);
  if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = word;
  ptx::sync_threads<kThreads>();
  if (threadIdx.x == 0) {
    for (int i = 1; i < kThreads / 32; ++i) word = worse(word, words[i]);
    guard[block] = word;
  }
}

}  // namespace solstice::gemm
