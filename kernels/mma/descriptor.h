// Shared-memory matrix descriptors of wgmma for tiles with the 128-byte swizzle.
//
// K-major tile: rows of 128 bytes along k, eight rows a swizzle atom, atoms one after another (stride 1024
// bytes; the leading offset is ignored). One instruction eats 32 bytes of k. MN-major tile (16-bit types):
// groups of 64 m or n; in a group, one row of 128 bytes a k, eight k an atom (stride 1024), groups
// `kGroupBytes` apart. One instruction eats 16 k = 2048 bytes.
#pragma once

#include "ptx/types.h"

namespace solstice::mma {

enum class Major { kK, kMN };

inline constexpr int kRowBytes = 128;  // one swizzled row
inline constexpr int kAtomBytes = 8 * kRowBytes;
inline constexpr int kGroupRows = 64;  // k of an MN-major group in one stage
inline constexpr int kGroupBytes = kGroupRows * kRowBytes;
inline constexpr int kSteps = 4;  // instructions along k in one 128-byte stage

template <Major kMajor>
SOLSTICE_DEVICE constexpr u64 descriptor(u32 address, int step) {
  const u32 start = address + step * (kMajor == Major::kK ? 32 : 2048);
  const u64 leading = kMajor == Major::kK ? 1 : kGroupBytes >> 4;
  return static_cast<u64>((start >> 4) & 0x3fff) | leading << 16 | static_cast<u64>(kAtomBytes >> 4) << 32 | 1ull << 62;
}

}  // namespace solstice::mma
