// A streamed operand on its way to a warp: 16 lines of 64 k a chunk, copied by the warp itself into slots of its own
// (cp.async: any alignment, either major order), several chunks ahead, and read as fragments of wgmma's register
// operand.
#pragma once

#include "copy/async.h"
#include "mma/descriptor.h"
#include "ptx/memory.h"
#include "ptx/sync.h"

// part: producer

namespace solstice::mainloop {

inline constexpr int kWarpLines = 16;  // rows of the accumulator that a warp has
inline constexpr int kChunkK = 64;

// Lines along k that are not even aligned to 8 bytes: copied element by element, or in aligned units of 16 bytes,
// however they begin. A line then lies `shift` elements behind the beginning of its row of the slot, and takes a unit
// more. Lines four apart have one shift, and so do all chunks of a line.
enum class Unaligned { kByElement, kByUnit };

// kVector: elements that lines are aligned to (4, 2, 1), and that a copy takes at once. kOuter lines of kInner
// elements, kPitch floats apart (chosen so that fragments are read without bank conflicts).
template <mma::Major kMajor, int kVector_, Unaligned kUnaligned>
struct LineSlot {
  static constexpr bool kByK = kMajor == mma::Major::kK;
  static constexpr bool kShifted = kByK && kVector_ == 1 && kUnaligned == Unaligned::kByUnit;
  static constexpr int kVector = kVector_;
  static constexpr int kInner = kByK ? kChunkK : kWarpLines, kOuter = kByK ? kWarpLines : kChunkK;
  static constexpr int kPitch = kByK ? 72 : 20;
  static constexpr int kBytes = kOuter * kPitch * 4;

  SOLSTICE_DEVICE static u32 address_of(u32 slot, int row, int k) {
    return slot + (kByK ? row * kPitch + k : k * kPitch + row) * 4;
  }
  // Element k of a row and the next one.
  SOLSTICE_DEVICE static Pair load_pair(u32 at) {
    if constexpr (kByK && kVector > 1) return ptx::load_shared_pair(at);
    return {ptx::from_bits(ptx::load_shared_u32(at)),
            ptx::from_bits(ptx::load_shared_u32(at + (kByK ? 4 : kPitch * 4)))};
  }
  // Rows lane/4 and lane/4 + 8: k `first` + 8q + 2(lane%4) and the next, q = 0, 1, ...
  template <int kCount>
  SOLSTICE_DEVICE static void load(float (&v)[2][kCount], u32 slot, int first, int lane) {
    const int k = first + 2 * (lane % 4);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = lane / 4 + 8 * r;
#pragma unroll
      for (int q = 0; q < kCount / 2; ++q) {
        const Pair x = load_pair(address_of(slot, row, 8 * q + k));
        v[r][2 * q] = x.x, v[r][2 * q + 1] = x.y;
      }
    }
  }
};

// Strides in elements; one of `line` and `k` is 1.
struct LineOperand {
  const float* data;
  i64 batch, line, k;
};

// The chunks of a block: first, first + step, ... so that blocks at work together read lines together.
struct Chunks {
  int first, step, count;
  int extent;  // of k

  SOLSTICE_DEVICE int index(int i) const { return first + i * step; }
  SOLSTICE_DEVICE int k(int i) const { return index(i) * kChunkK; }
  SOLSTICE_DEVICE int valid(int i) const { return smaller(extent - k(i), kChunkK); }
};

// kSlots slots of a warp, filled with the chunks in turn.
template <class Slot_, int kSlots>
struct LineSource {
  using Slot = Slot_;
  static constexpr int kBytes = kSlots * Slot::kBytes;
  static constexpr bool kByK = Slot::kByK;

  LineOperand x;
  int batch, lines, first_line;  // the operand's lines, the first one of the warp
  Chunks chunks;
  u32 slots;  // shared address
  int lane;
  u32 skipped = 0;  // bytes between the beginning of the lane's row and its line
  int slot = 0;     // that is read next

  SOLSTICE_DEVICE LineSource(const LineOperand& operand, int batch_, int lines_, int first_line_, const Chunks& chunks_,
                             u32 slots_, int lane_)
      : x(operand), batch(batch_), lines(lines_), first_line(first_line_), chunks(chunks_), slots(slots_), lane(lane_) {
    if constexpr (Slot::kShifted)
      skipped = 4 * static_cast<int>(
                        reinterpret_cast<u64>(x.data + batch * x.batch + (first_line + lane / 4) * x.line) / 4 % 4);
  }

  SOLSTICE_DEVICE u32 address() const { return slots + slot * Slot::kBytes; }
  // The first chunks.
  SOLSTICE_DEVICE void begin() const {
#pragma unroll
    for (int i = 0; i < kSlots; ++i) fill(i, slots + i * Slot::kBytes);
  }
  SOLSTICE_DEVICE void wait() const {
    copy::async_wait<kSlots - 1>();
    ptx::sync_warp();
  }
  template <int kCount>
  SOLSTICE_DEVICE void load(float (&v)[2][kCount], int first_k) const {
    Slot::load(v, address() + skipped, first_k, lane);
  }
  // Chunk i has been read: its slot is free again.
  SOLSTICE_DEVICE void advance(int i) {
    ptx::sync_warp();
    fill(i + kSlots, address());
    slot = slot + 1 == kSlots ? 0 : slot + 1;
  }

 private:
  SOLSTICE_DEVICE void fill(int i, u32 to) const {
    if (i < chunks.count) {
      if constexpr (Slot::kShifted)
        copy_shifted(i, to);
      else
        copy(i, to);
    }
    copy::async_commit();
  }

  // Lanes of half a warp take the first 16 units of a line; then each of 16 lanes takes the last one of a line.
  SOLSTICE_DEVICE void copy_shifted(int i, u32 to) const {
    constexpr int kUnits = kChunkK / 4;
    const int k0 = chunks.k(i), lines_left = lines - first_line, k_left = chunks.extent - k0;
    const float* const first = x.data + batch * x.batch + first_line * x.line + k0;
    const float* const nothing =
        reinterpret_cast<const float*>(reinterpret_cast<u64>(x.data) & ~15ull);  // where no byte is read
    const auto copy_unit = [&](int line, const float* unaligned, int unit, int add, bool whole) {
      const int shift = static_cast<int>(reinterpret_cast<u64>(unaligned) / 4 % 4);
      const float* const from = unaligned - shift + 4 * unit + add * 4 * x.line;
      const u32 at = to + ((line + 4 * add) * Slot::kPitch + 4 * unit) * 4;
      if (whole) {
        copy::load_async<16>(at, from);
      } else {
        const int valid = line + 4 * add < lines_left ? larger(0, smaller(k_left + shift - 4 * unit, 4)) : 0;
        copy::load_async<16>(at, valid > 0 ? from : nothing, 4 * valid);
      }
    };
    const bool whole = lines_left >= Slot::kOuter && k_left >= kChunkK + 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int line = lane / kUnits + 2 * half;
      const float* const begin = first + (line < lines_left ? line * x.line : 0);
#pragma unroll
      for (int add = 0; add < 4; ++add) copy_unit(line, begin, lane % kUnits, add, whole);
    }
    if (lane < Slot::kOuter) copy_unit(lane, first + (lane < lines_left ? lane * x.line : 0), kUnits, 0, whole);
  }

  // As many copies as 16 x 64 elements need; beyond the operand zeros.
  SOLSTICE_DEVICE void copy(int i, u32 slot_address) const {
    constexpr int kVector = Slot::kVector;
    constexpr int kPerLine = Slot::kInner / kVector;            // copies a line
    constexpr int kLines = kPerLine > 32 ? 1 : 32 / kPerLine;   // lines a step of the warp
    constexpr int kAcross = kPerLine > 32 ? kPerLine / 32 : 1;  // steps a line
    const int k0 = chunks.k(i);
    const int outer0 = kByK ? first_line : k0, inner0 = kByK ? k0 : first_line;
    const int outer_left = (kByK ? lines : chunks.extent) - outer0,
              inner_left = (kByK ? chunks.extent : lines) - inner0;
    const i64 stride = kByK ? x.line : x.k;
    const int outer = lane / smaller(kPerLine, 32), inner = lane % smaller(kPerLine, 32) * kVector;
    const float* from = x.data + batch * x.batch + (outer0 + outer) * stride + inner0 + inner;
    const u32 to = slot_address + (outer * Slot::kPitch + inner) * 4;
    // Nothing to test where the whole of it exists; the offsets are then constants of the instructions.
    if (outer_left >= Slot::kOuter && inner_left >= Slot::kInner) {
#pragma unroll
      for (int l = 0; l < Slot::kOuter / kLines; ++l) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          copy::load_async<4 * kVector>(to + (l * kLines * Slot::kPitch + j * 32 * kVector) * 4,
                                        from + l * kLines * stride + j * 32 * kVector);
      }
      return;
    }
#pragma unroll
    for (int l = 0; l < Slot::kOuter / kLines; ++l) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const int left = inner_left - inner - j * 32 * kVector;
        const int valid = outer + l * kLines < outer_left ? larger(0, smaller(left, kVector)) : 0;
        copy::load_async<4 * kVector>(to + (l * kLines * Slot::kPitch + j * 32 * kVector) * 4,
                                      valid > 0 ? from + l * kLines * stride + j * 32 * kVector : x.data, 4 * valid);
      }
    }
  }
};

}  // namespace solstice::mainloop
