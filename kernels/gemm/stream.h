// The product with one operand read once, in its own format: for few rows (or columns) of the other operand, where a
// split pass that writes planes and reads them back would move three times the bytes, and for few tiles with a long
// k.
//
// A warp copies 16 lines of 64 k of the streamed operand into its own shared memory (cp.async, any alignment, any
// major order), several chunks ahead; reads them as the fragments of wgmma's register operand; scales and splits them
// (TF32: rounds) there; and multiplies them with the planes of the held operand, which one thread brings in by the copy
// engine. Lines of the streamed operand are the rows of the accumulator, lines of the held one its columns, whichever
// of them is A. With Bf16x6 a warp works on half chunks (stream_bf16.h).
//
// Blocks of a cluster have neighbouring lines of the streamed operand: each brings a part of the held planes for all.
// Blocks share the k of a tile (`splits`); each writes its sums to partial[split][batch][m][n], which finish.h adds up
// in a fixed order. Guard words of the streamed operand are left one a block, as the split pass does.
#pragma once

#include "copy/async.h"
#include "copy/tma.h"
#include "gemm/chunk.h"
#include "gemm/planes.h"
#include "kernel/warp_specialized.h"
#include "mainloop/box_source.h"
#include "mainloop/promotion.h"
#include "mma/descriptor.h"
#include "mma/wgmma_held.h"
#include "pipeline/ring.h"

namespace solstice::gemm {

// kVector: elements that lines are aligned to (4, 2, 1), and that a copy takes at once where k is not contiguous;
// kGroups: warpgroups, of 64 lines of the streamed operand; kN: lines of the held operand in a tile (those of
// mma/wgmma_held.h); kRowsAreM: the streamed operand is A. kCluster: blocks that share held planes. Math: Fp16x3,
// Bf16x6Lifted (no scales; the guard is of the sums), or Tf32 (which needs no scales, promotion nor guard).
template <class Math_, mma::Major kMajor_, int kVector_, mma::Major kMajorHeld_, int kGroups_, int kN_, int kSlots_,
          int kSlotsHeld_, bool kRowsAreM_, int kCluster_>
struct StreamConfig {
  using Math = Math_;
  static constexpr bool kScaled = Math::kScaled;
  static constexpr pipeline::Readers kReaders = kScaled ? pipeline::Readers::kLanes : pipeline::Readers::kWarps;
  static_assert(kSame<Math, mainloop::Fp16x3> || kSame<Math, mainloop::Bf16x6Lifted> ||
                    (kSame<Math, mainloop::Tf32> && kMajorHeld_ == mma::Major::kK),
                "what fragments there are");
  static constexpr mma::Major kMajor = kMajor_, kMajorHeld = kMajorHeld_;
  static constexpr int kVector = kVector_, kN = kN_, kSlots = kSlots_, kSlotsHeld = kSlotsHeld_;
  static constexpr bool kRowsAreM = kRowsAreM_;
  static constexpr int kCluster = kCluster_;
  static_assert(kCluster == 1 || kN % (8 * kCluster) == 0, "parts of whole swizzle patterns");
  static constexpr int kGroups = kGroups_, kWarps = 4 * kGroups, kTileRows = 64 * kGroups;
  static constexpr int kThreads = 128 * kGroups;

  // A warp's slot: kOuter lines of kInner elements, kPitch floats apart (chosen so that fragments are read without
  // bank conflicts).
  static constexpr bool kByK = kMajor == mma::Major::kK;
  static constexpr int kInner = kByK ? kChunk : 16, kOuter = kByK ? 16 : kChunk, kPitch = kByK ? 72 : 20;
  static constexpr int kSlotBytes = kOuter * kPitch * 4;
  // Lines along k that are not even aligned to 8 bytes are copied in aligned units of 16 bytes, however they begin: a
  // line then lies `shift` elements behind the beginning of its row of the slot, and takes a unit more. Lines four
  // apart have one shift, and so do all chunks of a line. With bf16x6 this was slower than copies of 4 bytes
  // (docs/measured/gemm.md).
  static constexpr bool kShifted = kByK && kVector == 1 && !kSame<Math, mainloop::Bf16x6Lifted>;

  static constexpr int kPlaneHeld =
      kMajorHeld == mma::Major::kK ? kN * mma::kRowBytes : ceil_div(kN, mma::kGroupRows) * mma::kGroupBytes;
  static constexpr int kPlanesHeld =
      kSame<Math, mainloop::Tf32> ? 2 : Math::kPlanes;  // planes, or the two halves of a chunk of TF32
  using RingHeld = pipeline::Ring<kSlotsHeld_, kPlanesHeld * kPlaneHeld>;
  // One more slot of scales than of planes: an arrival may pass loads that are still on their way (tensor.h). It also
  // stands for a fence of the filling thread, which is one of those that multiply and would lose 1 % by it: a slot is
  // filled after an arrival behind the use of its values.
  static constexpr int kScales = kScaled ? mainloop::kScaleBytesB * kN : 0;
  using Scales = pipeline::SideSlots<kSlotsHeld_ + 1, kScales>;

  // Shared memory, in this order.
  static constexpr int kOffsetScales = RingHeld::kBytes;
  static constexpr int kOffsetStream = kOffsetScales + round_up(Scales::kBytes, 128);
  static constexpr int kOffsetBarriers = kOffsetStream + kWarps * kSlots * kSlotBytes;
  static constexpr int kOffsetWords = kOffsetBarriers + RingHeld::kBarriersBytes;  // a guard word a warp
  static constexpr int kSharedBytes = kOffsetWords + 8 * kWarps;
  static_assert(kSlots >= 2 && kSlotsHeld >= 2, "a chunk is awaited while the next ones are on their way");
  static_assert(kSharedBytes <= 232448, "more shared memory than a block may have");
};

struct StreamProblem {
  const float* data;   // the streamed operand
  i64 batch, line, k;  // its strides in elements; one of line and k is 1
  int rows, columns;   // lines of the streamed and of the held operand
  int k_extent, batches, splits;
  const u8* scales;  // of the held operand, floats: [batch][chunk][scale_stride]
  int scale_stride;
  float* partial;
  GuardWord* guard;
};

template <class Config>
struct Stream {
  using RingHeld = typename Config::RingHeld;
  static constexpr int kN = Config::kN, kRegisters = kN / 2, kSlots = Config::kSlots;
  static constexpr bool kByK = Config::kByK;

  const TensorMap* map;
  StreamProblem p;
  u32 shared;
  int batch, row0, column0, split;
  int rank;   // in the cluster
  int count;  // chunks of this block: split, split + splits, ... so that blocks at work together read lines together

  SOLSTICE_DEVICE Stream(const TensorMap* map_held, const StreamProblem& problem, u32 shared_address)
      : map(map_held), p(problem), shared(shared_address) {
    const int columns = ceil_div(p.columns, kN), rows = ceil_div(p.rows, Config::kTileRows * Config::kCluster);
    int block = static_cast<int>(blockIdx.x) / Config::kCluster;
    rank = static_cast<int>(blockIdx.x) % Config::kCluster;
    column0 = block % columns * kN;
    block /= columns;
    split = block % p.splits;
    block /= p.splits;
    row0 = (block % rows * Config::kCluster + rank) * Config::kTileRows;
    batch = block / rows;
    count = ceil_div(chunks() - split, p.splits);
  }
  SOLSTICE_DEVICE int chunk(int i) const { return split + i * p.splits; }
  SOLSTICE_DEVICE int chunks() const { return ceil_div(p.k_extent, kChunk); }
  SOLSTICE_DEVICE RingHeld ring() const { return RingHeld(shared, {shared + Config::kOffsetBarriers}); }

  // ---- the held operand: one thread
  using Scales = typename Config::Scales;
  SOLSTICE_DEVICE Scales scales() const { return Scales(shared + Config::kOffsetScales); }
  SOLSTICE_DEVICE void load_held(int i, RingHeld& held, Scales& scales) const {
    constexpr int kLines = kN / Config::kCluster, kRows = mma::kGroupRows / Config::kCluster;  // of this block's part
    const int c = chunk(i), first = rank * kLines, first_k = rank * kRows;
    held.wait_empty();
    ptx::barrier_arrive_expect(held.full(), Config::kPlanesHeld * Config::kPlaneHeld + Config::kScales);
#pragma unroll
    for (int plane = 0; plane < Config::kPlanesHeld; ++plane) {
      const u32 to = held.address() + plane * Config::kPlaneHeld;
      const int z = batch * Config::kPlanesHeld + plane;
      if constexpr (kSame<typename Config::Math, mainloop::Tf32>)
        mainloop::load_shared_box<Config::kCluster>(to + first * mma::kRowBytes, map, c * kChunk + plane * kChunk / 2,
                                                    column0 + first, batch, held.full());
      else if constexpr (Config::kMajorHeld == mma::Major::kK) {
        mainloop::load_shared_box<Config::kCluster>(to + first * mma::kRowBytes, map, c * kChunk, column0 + first, z,
                                                    held.full());
      } else {
#pragma unroll
        for (int g = 0; g < ceil_div(kN, mma::kGroupRows); ++g)
          mainloop::load_shared_box<Config::kCluster>(to + g * mma::kGroupBytes + first_k * mma::kRowBytes, map,
                                                      column0 + g * mma::kGroupRows, c * kChunk + first_k, z,
                                                      held.full());
      }
    }
    if constexpr (Config::kScaled) {
      const u8* from =
          p.scales + ((static_cast<i64>(batch) * chunks() + c) * p.scale_stride + column0) * mainloop::kScaleBytesB;
      copy::load_bytes(scales.address(), from, Config::kScales, held.full());
    }
    held.advance(), scales.advance();
  }

  // ---- the streamed operand: each warp its own 16 lines
  // Elements between the aligned unit that a line begins in and its beginning.
  SOLSTICE_DEVICE int shift_of(int row) const {
    if constexpr (!Config::kShifted) return 0;
    return static_cast<int>(reinterpret_cast<u64>(p.data + batch * p.batch + row * p.line) / 4 % 4);
  }
  // Lanes of half a warp take the first 16 units of a line; then each of 16 lanes takes the last one of a line.
  SOLSTICE_DEVICE void prefetch_shifted(int i, u32 slot, int first_row, int lane) const {
    constexpr int kUnits = kChunk / 4;
    const int k0 = chunk(i) * kChunk, rows_left = p.rows - first_row, k_left = p.k_extent - k0;
    const float* const first = p.data + batch * p.batch + first_row * p.line + k0;
    const float* const nothing =
        reinterpret_cast<const float*>(reinterpret_cast<u64>(p.data) & ~15ull);  // where no byte is read
    const auto copy_unit = [&](int line, const float* unaligned, int unit, int add, bool whole) {
      const int shift = static_cast<int>(reinterpret_cast<u64>(unaligned) / 4 % 4);
      const float* const from = unaligned - shift + 4 * unit + add * 4 * p.line;
      const u32 to = slot + ((line + 4 * add) * Config::kPitch + 4 * unit) * 4;
      if (whole) {
        copy::load_async<16>(to, from);
      } else {
        const int valid = line + 4 * add < rows_left ? larger(0, smaller(k_left + shift - 4 * unit, 4)) : 0;
        copy::load_async<16>(to, valid > 0 ? from : nothing, 4 * valid);
      }
    };
    const bool whole = rows_left >= Config::kOuter && k_left >= kChunk + 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int line = lane / kUnits + 2 * half;
      const float* const begin = first + (line < rows_left ? line * p.line : 0);
#pragma unroll
      for (int add = 0; add < 4; ++add) copy_unit(line, begin, lane % kUnits, add, whole);
    }
    if (lane < Config::kOuter) copy_unit(lane, first + (lane < rows_left ? lane * p.line : 0), kUnits, 0, whole);
  }
  // Copies of one chunk, as many as 16 x 64 elements need; beyond the operand zeros.
  SOLSTICE_DEVICE void prefetch(int i, u32 slot, int first_row, int lane) const {
    if constexpr (Config::kShifted) return prefetch_shifted(i, slot, first_row, lane);
    constexpr int kPerLine = Config::kInner / Config::kVector;  // copies a line
    constexpr int kLines = kPerLine > 32 ? 1 : 32 / kPerLine;   // lines a step of the warp
    constexpr int kAcross = kPerLine > 32 ? kPerLine / 32 : 1;  // steps a line
    const int k0 = chunk(i) * kChunk;
    const int outer0 = kByK ? first_row : k0, inner0 = kByK ? k0 : first_row;
    const int outer_left = (kByK ? p.rows : p.k_extent) - outer0, inner_left = (kByK ? p.k_extent : p.rows) - inner0;
    const i64 stride = kByK ? p.line : p.k;
    const int outer = lane / smaller(kPerLine, 32), inner = lane % smaller(kPerLine, 32) * Config::kVector;
    const float* from = p.data + batch * p.batch + (outer0 + outer) * stride + inner0 + inner;
    const u32 to = slot + (outer * Config::kPitch + inner) * 4;
    // Nothing to test where the whole of it exists; the offsets are then constants of the instructions.
    if (outer_left >= Config::kOuter && inner_left >= Config::kInner) {
#pragma unroll
      for (int l = 0; l < Config::kOuter / kLines; ++l) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j)
          copy::load_async<4 * Config::kVector>(to + (l * kLines * Config::kPitch + j * 32 * Config::kVector) * 4,
                                                from + l * kLines * stride + j * 32 * Config::kVector);
      }
      return;
    }
#pragma unroll
    for (int l = 0; l < Config::kOuter / kLines; ++l) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        const int left = inner_left - inner - j * 32 * Config::kVector;
        const int valid = outer + l * kLines < outer_left ? larger(0, smaller(left, Config::kVector)) : 0;
        copy::load_async<4 * Config::kVector>(
            to + (l * kLines * Config::kPitch + j * 32 * Config::kVector) * 4,
            valid > 0 ? from + l * kLines * stride + j * 32 * Config::kVector : p.data, 4 * valid);
      }
    }
  }

  // Element k of a row and the next one.
  SOLSTICE_DEVICE static Pair fetch_pair(u32 at) {
    if constexpr (Config::kByK && Config::kVector > 1) return ptx::load_shared_pair(at);
    return {ptx::from_bits(ptx::load_shared_u32(at)),
            ptx::from_bits(ptx::load_shared_u32(at + (Config::kByK ? 4 : Config::kPitch * 4)))};
  }
  SOLSTICE_DEVICE static u32 address_of(u32 slot, int row, int k) {
    return slot + (Config::kByK ? row * Config::kPitch + k : k * Config::kPitch + row) * 4;
  }
  // Row lane/4 + 8r of the warp's tile: k 8q + 2(lane%4) and the next, q = 0..7.
  SOLSTICE_DEVICE static void fetch(float (&v)[16], u32 slot, int r, int lane) {
    const int row = lane / 4 + 8 * r, k = 2 * (lane % 4);
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const Pair x = fetch_pair(address_of(slot, row, 8 * q + k));
      v[2 * q] = x.x, v[2 * q + 1] = x.y;
    }
  }

  // The warp's 16 rows as fragments [instruction][register]: TF32 of 8 k each; planes of 16 k each, the large ones
  // first, and the inverse scales of rows g and g + 8.
  using Fragments = u32[8][4];
  SOLSTICE_DEVICE static Pair split_chunk(Fragments& a, float (&v)[2][16], int valid, RangeAt8& range) {
    if constexpr (!Config::kScaled) {
#pragma unroll
      for (int q = 0; q < 8; ++q) {
#pragma unroll
        for (int i = 0; i < 4; ++i) a[q][i] = ptx::bits_of(ptx::round_tf32(v[i % 2][2 * q + i / 2]));
      }
      return {1.f, 1.f};
    }
    float inverse[2];
    scale_chunks(v, inverse, valid, range);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      u32 words[8];
      take_plane<mma::F16, false>(v[r], words);
#pragma unroll
      for (int j = 0; j < 4; ++j) a[j][r] = words[2 * j], a[j][r + 2] = words[2 * j + 1];
      take_plane<mma::F16, false>(v[r], words);
#pragma unroll
      for (int j = 0; j < 4; ++j) a[4 + j][r] = words[2 * j], a[4 + j][r + 2] = words[2 * j + 1];
    }
    return {inverse[0], inverse[1]};
  }

  template <bool kFresh, int kFirst>
  SOLSTICE_DEVICE static void multiply(float (&d)[kRegisters], const Fragments& a, u32 b) {
#pragma unroll
    for (int k = 0; k < mma::kSteps; ++k)
      mma::WgmmaHeld<typename Config::Math::Type, kN, Config::kMajorHeld == mma::Major::kMN>::run(
          d, a[kFirst + k], mma::descriptor<Config::kMajorHeld>(b, k), !(kFresh && k == 0));
  }
  // Products of a chunk; TF32 adds to what `d` holds.
  SOLSTICE_DEVICE static void multiply_chunk(float (&d)[kRegisters], const Fragments& a, u32 b) {
    if constexpr (Config::kScaled) {
      multiply<true, 4>(d, a, b);
      multiply<false, 0>(d, a, b + Config::kPlaneHeld);
      multiply<false, 0>(d, a, b);
    } else {
      multiply<false, 0>(d, a, b);
      multiply<false, 4>(d, a, b + Config::kPlaneHeld);
    }
  }

  SOLSTICE_DEVICE static void promote(float (&sums)[kRegisters], const float (&part)[kRegisters], Pair row,
                                      u32 scales) {
#pragma unroll
    for (int j = 0; j < kN / 8; ++j)
      mainloop::promote_scaled(sums + 4 * j, part + 4 * j, row, ptx::load_shared_pair(scales + 32 * j));
  }

  SOLSTICE_DEVICE void release(const RingHeld& held, int lane) const {
    held.template release<Config::kCluster, Config::kReaders>(held.slot, lane, rank);
  }

  SOLSTICE_DEVICE void consume() const {
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const int first_row = row0 + warp * 16;
    const u32 slots = shared + Config::kOffsetStream + warp * kSlots * Config::kSlotBytes;
    RingHeld held = ring(), loads = ring();
    Scales aside = scales(), loads_aside = scales();
    const u32 skipped = 4 * shift_of(first_row + lane / 4);
    RangeAt8 range;
    float sums[kRegisters] = {};
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      if (i < count) prefetch(i, slots + i * Config::kSlotBytes, first_row, lane);
      copy::async_commit();
    }
    if (threadIdx.x == 0) {
      ptx::wait_for_previous_kernel();
      for (int i = 0; i < Config::kSlotsHeld - 1 && i < count; ++i) load_held(i, loads, loads_aside);
    }
    ptx::sync_warp();
    // While the tensor cores multiply a chunk, the next one is scaled and split.
    int slot = 0;
    const auto take = [&](int c, Fragments& a) {
      const u32 at = slots + slot * Config::kSlotBytes;
      float v[2][16];
      copy::async_wait<kSlots - 1>();
      ptx::sync_warp();
      fetch(v[0], at + skipped, 0, lane);
      fetch(v[1], at + skipped, 1, lane);
      ptx::sync_warp();
      if (c + kSlots < count) prefetch(c + kSlots, at, first_row, lane);  // the slot is free again
      copy::async_commit();
      slot = slot + 1 == kSlots ? 0 : slot + 1;
      return split_chunk(a, v, smaller(p.k_extent - chunk(c) * kChunk, kChunk), range);
    };
    Fragments a[2];
    Pair row[2];
    if (count > 0) row[0] = take(0, a[0]);
    for (int c = 0; c < count; c += 2) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (c + i >= count) break;
        float part[kRegisters];
        float(&d)[kRegisters] = Config::kScaled ? part : sums;
        held.wait_full();
        mma::fence();
        multiply_chunk(d, a[i], held.address());
        mma::commit();
        if (c + i + 1 < count) row[1 - i] = take(c + i + 1, a[1 - i]);
        if (threadIdx.x == 0 && c + i + Config::kSlotsHeld - 1 < count)
          load_held(c + i + Config::kSlotsHeld - 1, loads, loads_aside);
        ptx::sync_warp();
        mma::wait<0>();
        mma::pin(d);
        if constexpr (Config::kScaled)
          promote(sums, part, row[i], aside.address() + 2 * mainloop::kScaleBytesB * (lane % 4));
        ptx::sync_warp();
        release(held, lane);
        held.advance(), aside.advance();
      }
    }
    store(sums, first_row + lane / 4, column0 + 2 * (lane % 4));
    if constexpr (Config::kScaled) {
      GuardWord* words = reinterpret_cast<GuardWord*>(ptx::dynamic_shared() + Config::kOffsetWords);
      store_guard<Config::kThreads>(words, p.guard, static_cast<int>(blockIdx.x), range.word());
    }
  }

  SOLSTICE_DEVICE void store(const float (&sums)[kRegisters], int row, int column) const {
    const int n = Config::kRowsAreM ? p.columns : p.rows, m = Config::kRowsAreM ? p.rows : p.columns;
    float* to = p.partial + (static_cast<i64>(split) * p.batches + batch) * m * n;
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) {
      const int r = row + 8 * (i / 2 % 2), c = column + 8 * (i / 4) + i % 2;
      if (r < p.rows && c < p.columns)
        to[Config::kRowsAreM ? static_cast<i64>(r) * n + c : static_cast<i64>(c) * n + r] = sums[i];
    }
  }
};

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes of dynamic shared memory, clusters
// of Config::kCluster blocks and one cluster for each of ceil(rows / (kCluster * kTileRows)) x ceil(columns / kN),
// batch and split. The streamed operand is read before the launch that this one depends on has ended; that launch must
// not write it.
template <class Config, template <class> class Form = Stream>
SOLSTICE_DEVICE void run_stream(const TensorMap& map, const StreamProblem& p) {
  const Form<Config> gemm(&map, p, ptx::shared_address(ptx::dynamic_shared()));
  if (threadIdx.x == 0) {
    gemm.ring().init(1, Config::kWarps * pipeline::kArrivals<Config::kCluster, Config::kReaders>);
    ptx::barrier_init_fence();
  }
  kernel::meet<Config::kCluster>();
  gemm.consume();
  kernel::part<Config::kCluster>();
}

}  // namespace solstice::gemm
