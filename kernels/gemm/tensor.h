// The tensor-core GEMM of sm_90a: persistent, warp-specialised, TMA in, wgmma, generated epilogue out.
//
// D[b,m,n] = epilogue(sum_k A[b,m,k] * B[b,n,k]). A CTA owns a tile of 64*kGroups rows x kN*kHalves columns.
// One producer warpgroup fills two rings (A: all rows of a stage, B: kN columns of a stage); kGroups consumer
// warpgroups multiply. With promotion a warpgroup keeps all its sums in registers and one accumulator of kN
// columns, which it uses for each half of the tile in turn: that is how 128 x 256 with promotion fits the
// register file. In the accumulator, the small products come first, then the large ones, so that they are not
// truncated away. CTAs of a cluster lie along m and share B, or along n and share A: each
// loads a part of it for all.
//
// Two sums that share A (kDual): half of an accumulator's columns, or with promotion half of the tile, are of B, the
// others the same columns of a second B. So a thread holds both sums of an element, and the epilogue gets the two.
//
// Where elements need their row's results (epilogue/row_resident.h), the CTAs of a cluster lie along n and have whole
// rows.
//
// Shared tiles (kShared): the k of the last ones is shared out among CTAs (scheduler/stream_k.h,
// pipeline/stream_k_fixup.h).
#pragma once

#include "copy/tma.h"
#include "epilogue/row_resident.h"
#include "gemm/guard.h"
#include "gemm/math.h"
#include "gemm/result.h"
#include "mma/descriptor.h"
#include "pipeline/ring.h"
#include "pipeline/stream_k_fixup.h"
#include "scheduler/stream_k.h"
#include "scheduler/triangular.h"

namespace solstice::gemm {

template <class Math_, mma::Major kMajorA_, mma::Major kMajorB_, int kN_, int kHalves_, int kGroups_, int kSlotsA_,
          int kSlotsB_, int kCluster_, bool kAlongN_ = false, bool kHalf_ = false, bool kDual_ = false,
          bool kShared_ = false>
struct TensorConfig {
  using Math = Math_;
  static constexpr mma::Major kMajorA = kMajorA_, kMajorB = kMajorB_;
  static constexpr int kN = kN_, kHalves = kHalves_, kGroups = kGroups_, kCluster = kCluster_;
  static constexpr bool kHalf = kHalf_;  // products are needed in a half-plane of the result alone
  static constexpr int kShareA = kAlongN_ ? kCluster : 1, kShareB = kAlongN_ ? 1 : kCluster;
  static constexpr bool kDual = kDual_, kShared = kShared_;
  static constexpr int kTileM = 64 * kGroups, kTileN = kN * kHalves / (kDual ? 2 : 1);  // of the result
  static constexpr int kStageK = mma::kRowBytes / Math::Type::kBytes;
  static constexpr int kThreads = 128 * (kGroups + 1);

  static constexpr int kPlaneA = kTileM * mma::kRowBytes, kPlaneB = kN * mma::kRowBytes;
  using RingA = pipeline::Ring<kSlotsA_, Math::kPlanes * kPlaneA>;
  using RingB = pipeline::Ring<kSlotsB_, Math::kPlanes * kPlaneB>;
  // Slots are released by arrives, and an arrive, in this CTA or another, may overtake loads from shared memory that
  // are still on their way: no warp can fall behind (each arrives for itself), but its last scales can. They have one
  // slot more than planes: it is filled again only after the arrival that follows, and before that their values have
  // been used, since the sums they scale are added to next. (Planes are read by wgmma, which has ended by then.) Every
  // lane arrives for the scales that it has read, and who fills a slot fences its copy from them (they are of another
  // proxy).
  static constexpr int kScaleA = Math::kScaled ? kScaleBytesA * kTileM : 0,
                       kScaleB = Math::kScaled ? kScaleBytesB * kN : 0;
  using ScalesA = pipeline::SideSlots<kSlotsA_ + 1, kScaleA>;
  using ScalesB = pipeline::SideSlots<kSlotsB_ + 1, kScaleB>;

  // Shared memory, in this order.
  static constexpr int kOffsetB = RingA::kBytes;
  static constexpr int kOffsetStaging = kOffsetB + RingB::kBytes;
  static constexpr int kOffsetScaleA = kOffsetStaging + 4 * kGroups * kStageBuffers * kStageBytes;
  static constexpr int kOffsetScaleB = kOffsetScaleA + ScalesA::kBytes;
  static constexpr int kOffsetBarriersA = kOffsetScaleB + ScalesB::kBytes;
  static constexpr int kOffsetBarriersB = kOffsetBarriersA + RingA::kBarriersBytes;
  static constexpr int kSharedBytes = kOffsetBarriersB + RingB::kBarriersBytes;
  static_assert(kSharedBytes <= 232448, "more shared memory than a block may have");
  static_assert(!kHalf || !kShared, "tiles of a half-plane are counted otherwise");
  static_assert(!kDual || (kHalves == 2 ? Math::kPromoted : kN >= 128), "each of two sums has 64 columns or more");
  static_assert(Math::Type::kBytes == 2 || (kMajorA == mma::Major::kK && kMajorB == mma::Major::kK),
                "only operands of 2 bytes may be MN-major");
};

// Extents, and the scales of a scaled split: scales[batch][chunk][stride], or, of whole lines, floats [batch][stride].
struct Problem {
  int m, n, k, batches;
  int group;           // row tiles (of a cluster) walked before the next column of tiles
  const u8* scales_a;  // exponents
  const u8* scales_b;  // float
  int scale_stride_a, scale_stride_b;
  HalfPlane needed;
  const u8* scales_second_b = nullptr;
  StreamKTiles shared = {};  // in tiles of a cluster
  pipeline::StreamKWorkspace sums = {};
};

template <class Config>
struct Tensor {
  using Math = typename Config::Math;
  using Type = typename Math::Type;
  using RingA = typename Config::RingA;
  using RingB = typename Config::RingB;
  using ScalesA = typename Config::ScalesA;
  using ScalesB = typename Config::ScalesB;
  static constexpr int kN = Config::kN, kHalves = Config::kHalves, kCluster = Config::kCluster,
                       kShareA = Config::kShareA, kShareB = Config::kShareB, kPlanes = Math::kPlanes;
  static constexpr int kRegisters = kN / 2;  // of one accumulator
  static constexpr pipeline::Readers kReaders = Math::kScaled ? pipeline::Readers::kLanes : pipeline::Readers::kWarps;
  static constexpr bool kDual = Config::kDual;
  // Products of a byte take so little time that a promotion between them is felt.
  static constexpr bool kPairs = Math::kPromoted && !Math::kScaled && Type::kBytes == 1 && kHalves == 1;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const TensorMap* map_second_b;
  Problem p;
  u32 shared;
  u32 rank;  // in the cluster

  SOLSTICE_DEVICE RingA ring_a() const { return RingA(shared, {shared + Config::kOffsetBarriersA}); }
  SOLSTICE_DEVICE RingB ring_b() const { return RingB(shared + Config::kOffsetB, {shared + Config::kOffsetBarriersB}); }
  SOLSTICE_DEVICE ScalesA scales_a() const { return ScalesA(shared + Config::kOffsetScaleA); }
  SOLSTICE_DEVICE ScalesB scales_b() const { return ScalesB(shared + Config::kOffsetScaleB); }
  SOLSTICE_DEVICE int stages() const { return ceil_div(p.k, Config::kStageK); }
  SOLSTICE_DEVICE RasterOrder order() const {
    return {ceil_div(p.m, Config::kTileM * kShareB), ceil_div(p.n, Config::kTileN * kShareA), p.group};
  }
  // Calls f(batch, m0, n0, share) for each tile of this CTA.
  template <class F>
  SOLSTICE_DEVICE void for_each_tile(F&& f) const {
    if constexpr (Config::kHalf) {
      const HalfPlane needed = p.needed.in_tiles(kShareB * Config::kTileM, kShareA * Config::kTileN);
      for_each_half(order(), p.batches, needed, blockIdx.x / kCluster, gridDim.x / kCluster,
                    [&](const TileIndex& i, bool has) { call(f, i, whole(has ? stages() : 0)); });
    } else if constexpr (Config::kShared) {
      const RasterOrder tiles = order();
      StreamKScheduler walk(p.shared, stages(), blockIdx.x / kCluster, gridDim.x / kCluster);
      for (StreamKShare share; walk.next(share);) call(f, tiles(share.tile), share);
    } else {
      const RasterOrder tiles = order();
      const int count = tiles.per_batch() * p.batches;
      for (int t = blockIdx.x / kCluster; t < count; t += gridDim.x / kCluster) call(f, tiles(t), whole(stages()));
    }
  }
  SOLSTICE_DEVICE static StreamKShare whole(int count) { return {0, 0, count, 0, false}; }
  template <class F>
  SOLSTICE_DEVICE void call(F&& f, const TileIndex& i, const StreamKShare& share) const {
    const int r = static_cast<int>(rank);
    f(i.batch, (i.m * kShareB + (kShareB > 1 ? r : 0)) * Config::kTileM,
      (i.n * kShareA + (kShareA > 1 ? r : 0)) * Config::kTileN, share);
  }

  SOLSTICE_DEVICE void init_barriers() const {
    ring_a().init(1, 4 * Config::kGroups * pipeline::kArrivals<kShareA, kReaders>);
    ring_b().init(1, 4 * Config::kGroups * pipeline::kArrivals<kShareB, kReaders>);
    ptx::barrier_init_fence();
  }

  // ---- producers: one thread each
  // A box for this CTA, or, where kShare CTAs need the same operand, this CTA's part of it for all.
  template <int kShare>
  SOLSTICE_DEVICE static void load_shared(u32 to, const TensorMap* map, int x, int y, int z, u32 full) {
    if constexpr (kShare > 1)
      copy::load_box_multicast(to, map, x, y, z, full, (1 << kShare) - 1);
    else
      copy::load_box(to, map, x, y, z, full);
  }
  // A stage of a plane, kLines lines of it from `line` on.
  template <mma::Major kMajor, int kShare, int kLines>
  SOLSTICE_DEVICE void load_plane(u32 to, const TensorMap* map, int k, int line, int z, u32 full) const {
    constexpr int kRows = (kMajor == mma::Major::kK ? kLines : mma::kGroupRows) / kShare;
    const int first = kShare > 1 ? static_cast<int>(rank) * kRows : 0;
    if constexpr (kMajor == mma::Major::kK) {
      load_shared<kShare>(to + first * mma::kRowBytes, map, k, line + first, z, full);
    } else {
#pragma unroll
      for (int g = 0; g < kLines / 64; ++g)
        load_shared<kShare>(to + g * mma::kGroupBytes + first * mma::kRowBytes, map, line + g * 64, k + first, z, full);
    }
  }
  SOLSTICE_DEVICE void load_a() const {
    RingA ring = ring_a();
    ScalesA scales = scales_a();
    for_each_tile([&](int batch, int m0, int, const StreamKShare& share) {
      for (int s = share.first; s < share.last; ++s, ring.advance(), scales.advance()) {
        ring.wait_empty();
        if constexpr (Math::kScaled) ptx::fence_async_proxy();
        ptx::barrier_arrive_expect(ring.full(), kPlanes * Config::kPlaneA + Config::kScaleA);
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane) {
          const u32 to = ring.address() + plane * Config::kPlaneA;
          const int z = batch * kPlanes + plane;
          load_plane<Config::kMajorA, kShareA, Config::kTileM>(to, map_a, s * Config::kStageK, m0, z, ring.full());
        }
        if constexpr (Math::kScaled) {
          const u8* from =
              p.scales_a + ((static_cast<i64>(batch) * stages() + s) * p.scale_stride_a + m0) * kScaleBytesA;
          copy::load_bytes(scales.address(), from, Config::kScaleA, ring.full());
        }
      }
    });
  }

  SOLSTICE_DEVICE void load_b() const {
    RingB ring = ring_b();
    ScalesB scales = scales_b();
    for_each_tile([&](int batch, int, int n0, const StreamKShare& share) {
      for (int s = share.first; s < share.last; ++s) {
#pragma unroll 1
        for (int h = 0; h < kHalves; ++h, ring.advance(), scales.advance()) {
          const bool second = kDual && h == 1;
          const int n = kDual ? n0 : n0 + h * kN;
          ring.wait_empty();
          if constexpr (Math::kScaled) ptx::fence_async_proxy();
          ptx::barrier_arrive_expect(ring.full(), kPlanes * Config::kPlaneB + Config::kScaleB);
#pragma unroll
          for (int plane = 0; plane < kPlanes; ++plane) {
            const u32 to = ring.address() + plane * Config::kPlaneB;
            const int k = s * Config::kStageK, z = batch * kPlanes + plane;
            if constexpr (kDual && kHalves == 1) {
              load_plane<Config::kMajorB, kShareB, kN / 2>(to, map_b, k, n, z, ring.full());
              load_plane<Config::kMajorB, kShareB, kN / 2>(to + kN / 2 * mma::kRowBytes, map_second_b, k, n, z,
                                                           ring.full());
            } else {
              load_plane<Config::kMajorB, kShareB, kN>(to, second ? map_second_b : map_b, k, n, z, ring.full());
            }
          }
          if constexpr (Math::kScaled) {
            const u8* from = (second ? p.scales_second_b : p.scales_b) +
                             ((static_cast<i64>(batch) * stages() + s) * p.scale_stride_b + n) * kScaleBytesB;
            copy::load_bytes(scales.address(), from, Config::kScaleB, ring.full());
          }
        }
      }
    });
  }

  // ---- consumers: one warpgroup each
  SOLSTICE_DEVICE void release_a(const RingA& ring, int slot, int lane) const {
    ring.template release<kShareA, kReaders>(slot, lane, static_cast<int>(rank));
  }
  SOLSTICE_DEVICE void release_b(const RingB& ring, int slot, int lane) const {
    ring.template release<kShareB, kReaders>(slot, lane, static_cast<int>(rank));
  }

  template <bool kFresh>
  SOLSTICE_DEVICE static void multiply(float (&d)[kRegisters], u32 a, u32 b, int plane_a, int plane_b) {
    using Instruction = mma::Wgmma<Type, kN, Config::kMajorA == mma::Major::kMN, Config::kMajorB == mma::Major::kMN>;
#pragma unroll
    for (int k = 0; k < mma::kSteps; ++k) {
      Instruction::run(d, mma::descriptor<Config::kMajorA>(a + plane_a * Config::kPlaneA, k),
                       mma::descriptor<Config::kMajorB>(b + plane_b * Config::kPlaneB, k), !(kFresh && k == 0));
    }
  }
  // All products of a stage, smallest first: planes (i, j) by descending i + j, as far as they matter.
  template <bool kFresh>
  SOLSTICE_DEVICE static void multiply_stage(float (&d)[kRegisters], u32 a, u32 b) {
    if constexpr (kPlanes == 3) {
      multiply<kFresh>(d, a, b, 2, 0);
      multiply<false>(d, a, b, 0, 2);
      multiply<false>(d, a, b, 1, 1);
      multiply<false>(d, a, b, 1, 0);
      multiply<false>(d, a, b, 0, 1);
    } else if constexpr (kPlanes == 2) {
      multiply<kFresh>(d, a, b, 1, 0);
      multiply<false>(d, a, b, 0, 1);
    }
    multiply<kFresh && kPlanes == 1>(d, a, b, 0, 0);
  }

  // Half of the scales of a thread's columns, from shared memory: two columns of every eight.
  static constexpr int kPart = kN / 16;
  template <int kPartIndex>
  SOLSTICE_DEVICE static void load_scales(u32 at, Pair (&scales)[kPart]) {
    if constexpr (Math::kScaled) {
#pragma unroll
      for (int j = 0; j < kPart; ++j) scales[j] = ptx::load_shared_pair(at + 32 * (kPartIndex * kPart + j));
    }
  }
  // Adds half of a chunk's partial sums, scaled, to the fp32 sums.
  template <int kPartIndex>
  SOLSTICE_DEVICE static void promote(float (&sums)[kRegisters], const float (&part)[kRegisters], Pair a,
                                      const Pair (&scales)[kPart]) {
#pragma unroll
    for (int j = 0; j < kPart; ++j) {
      const int i = 4 * (kPartIndex * kPart + j);
      if constexpr (Math::kScaled) {
        sums[i] += part[i] * a.x * scales[j].x;
        sums[i + 1] += part[i + 1] * a.x * scales[j].y;
        sums[i + 2] += part[i + 2] * a.y * scales[j].x;
        sums[i + 3] += part[i + 3] * a.y * scales[j].y;
      } else {
        sums[i] += part[i], sums[i + 1] += part[i + 1], sums[i + 2] += part[i + 2], sums[i + 3] += part[i + 3];
      }
    }
  }

  // The tensor cores serve both warpgroups at once, so a warpgroup's promotion is free only while it takes
  // less than half as long as its products: every instruction of it counts. Half of the scales are read
  // before the products are done, the others while the first half is added.
  SOLSTICE_DEVICE void accumulate_promoted(float (&sums)[kHalves][kRegisters], RingA& a, RingB& b, ScalesA& aside_a,
                                           ScalesB& aside_b, int last, int group, int lane, int row) const {
    for (int s = 0; s < last; ++s, a.advance(), aside_a.advance()) {
      a.wait_full();
      const u32 tile_a = a.address() + group * 64 * mma::kRowBytes;
      Pair scale_a{1.f, 1.f};
      if constexpr (Math::kScaled) {
        const u32 at = aside_a.address() + kScaleBytesA * row;
        scale_a = {ptx::from_bits(ptx::load_shared_u8(at) << 23),
                   ptx::from_bits(ptx::load_shared_u8(at + 8 * kScaleBytesA) << 23)};
      }
#pragma unroll
      for (int h = 0; h < kHalves; ++h, b.advance(), aside_b.advance()) {
        const u32 scales_b = aside_b.address() + 2 * kScaleBytesB * (lane % 4);
        float part[kRegisters];
        Pair scales[2][kPart];
        b.wait_full();
        mma::fence();
        multiply_stage<true>(part, tile_a, b.address());
        mma::commit();
        load_scales<0>(scales_b, scales[0]);
        mma::wait<0>();
        mma::pin(part);
        if (h == kHalves - 1) {
          if constexpr (Math::kScaled)
            ptx::sync_warp();  // not for the arrival: without it the compiler's order is 6 % slower at 2048^3
          release_a(a, a.slot, lane);
        }
        load_scales<1>(scales_b, scales[1]);
        promote<0>(sums[h], part, scale_a, scales[0]);
        ptx::sync_warp();
        release_b(b, b.slot, lane);
        promote<1>(sums[h], part, scale_a, scales[1]);
      }
    }
  }

  // Two chunks a time, an accumulator each: the sums of the first are added while the second is multiplied, and all
  // that another warpgroup has to cover is the addition of the second.
  SOLSTICE_DEVICE void accumulate_pairs(float (&sums)[kRegisters], RingA& a, RingB& b, int last, int group,
                                        int lane) const {
    const auto multiply_chunk = [&](float(&part)[kRegisters]) {
      a.wait_full();
      b.wait_full();
      mma::fence();
      multiply_stage<true>(part, a.address() + group * 64 * mma::kRowBytes, b.address());
      mma::commit();
    };
    const auto add_chunk = [&](float(&part)[kRegisters], int slot_a, int slot_b) {
      mma::pin(part);
      release_a(a, slot_a, lane);
      release_b(b, slot_b, lane);
#pragma unroll
      for (int i = 0; i < kRegisters; ++i) sums[i] += part[i];
    };
    int s = 0;
    for (; s + 1 < last; s += 2) {
      float part[2][kRegisters];
      const int first_a = a.slot, first_b = b.slot;
      multiply_chunk(part[0]);
      a.advance();
      b.advance();
      multiply_chunk(part[1]);
      mma::wait<1>();
      add_chunk(part[0], first_a, first_b);
      mma::wait<0>();
      add_chunk(part[1], a.slot, b.slot);
      a.advance();
      b.advance();
    }
    if (s < last) {
      float part[kRegisters];
      multiply_chunk(part);
      mma::wait<0>();
      add_chunk(part, a.slot, b.slot);
      a.advance();
      b.advance();
    }
  }

  SOLSTICE_DEVICE void accumulate(float (&sums)[kHalves][kRegisters], RingA& a, RingB& b, int last, int group,
                                  int lane) const {
    static_assert(Math::kPromoted || kHalves == 1, "without promotion one instruction covers the tile's columns");
    int used_a = -1, used_b = -1;
    if (Config::kHalf && last == 0) return;
    for (int s = 0; s < last; ++s) {
      a.wait_full();
      b.wait_full();
      mma::fence();
      multiply_stage<false>(sums[0], a.address() + group * 64 * mma::kRowBytes, b.address());
      mma::commit();
      mma::wait<1>();
      if (used_a >= 0) {
        release_a(a, used_a, lane);
        release_b(b, used_b, lane);
      }
      used_a = a.slot;
      used_b = b.slot;
      a.advance();
      b.advance();
    }
    mma::wait<0>();
    mma::pin(sums[0]);
    release_a(a, used_a, lane);
    release_b(b, used_b, lane);
  }

  // Of a consumer's warp, in the second half of its staging buffers.
  SOLSTICE_DEVICE solstice::epilogue::RowExchange<kShareA> row_exchange(int warp) const {
    return {shared + Config::kOffsetStaging + warp * kStageBuffers * kStageBytes + solstice::epilogue::kResidentStaging,
            rank};
  }

  template <class Epilogue>
  SOLSTICE_DEVICE void consume(const Epilogue& epilogue, const TensorMap* map_out, int group) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;  // of all groups
    const u32 staging = shared + Config::kOffsetStaging + warp * kStageBuffers * kStageBytes;
    RingA a = ring_a();
    RingB b = ring_b();
    ScalesA aside_a = scales_a();
    ScalesB aside_b = scales_b();
    solstice::epilogue::RowExchange<kShareA> exchange = row_exchange(warp);
    const int block = static_cast<int>(blockIdx.x);
    for_each_tile([&](int batch, int m0, int n0, const StreamKShare& share) {
      int last = share.last - share.first;
      // One value for all lanes, as the compiler can see: places in the rings are then uniform.
      if constexpr (Config::kShared) last = __shfl_sync(~0u, last, 0);
      float sums[kHalves][kRegisters] = {};
      const int row = warp * 16;
      if constexpr (kPairs)
        accumulate_pairs(sums[0], a, b, last, group, lane);
      else if constexpr (Math::kPromoted)
        accumulate_promoted(sums, a, b, aside_a, aside_b, last, group, lane, row + lane / 4);
      else
        accumulate(sums, a, b, last, group, lane);
      if constexpr (Config::kShared) {
        const pipeline::StreamKFixup<pipeline::StreamKWorkspace, Config::kGroups, kHalves * kRegisters,
                                     smaller(kRegisters, 64)>
            fixup{p.sums, group};
        if (share.hands_on) return fixup.store(sums, block);
        fixup.add(sums, share.from, block / kCluster,
                  [&](int cluster) { return cluster * kCluster + static_cast<int>(rank); });
      }
      if constexpr (Math::kLineScaled) scale_lines<kDual>(sums[0], p, batch, m0 + row + lane / 4, n0 + 2 * (lane % 4));
      const WarpTile first{batch, m0 + row, n0, p.m, p.n, staging, lane};
      constexpr int kAtOnce = kStepsAtOnce<Math, kHalves * kRegisters, Epilogue>;
      if constexpr (Epilogue::kRowResident) {
        static_assert(kShareB == 1 && !kDual);
        solstice::epilogue::write_row_resident<kResidentSteps<Math, kHalves * kRegisters, Epilogue>>(
            epilogue, first, map_out, sums, exchange);
      } else if constexpr (kDual) {
        constexpr int kCount = kHalves == 2 ? kRegisters : kRegisters / 2, kSecond = kRegisters - kCount;
        write_tile<kCount, kSecond>(epilogue, first, map_out, sums[0], sums[kHalves - 1]);
      } else if constexpr (kAtOnce > 0) {
        write_rolled<kAtOnce>(epilogue, first, map_out, sums);
      } else {
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
          WarpTile tile = first;
          tile.n0 += h * kN;
          write_tile<kRegisters>(epilogue, tile, map_out, sums[h]);
        }
      }
    });
    if constexpr (Epilogue::kTma) {
      if (lane == 0) copy::store_wait_all();
    }
  }
};

// The body of a kernel launched with Config::kThreads threads, Config::kSharedBytes of dynamic shared memory
// and clusters of Config::kCluster blocks; the grid is a multiple of the cluster. `map_second_b`: of kDual.
template <class Config, class Epilogue>
SOLSTICE_DEVICE void run_tensor(const TensorMap& map_a, const TensorMap& map_b, const TensorMap& map_out,
                                const Problem& p, const Epilogue& epilogue, const TensorMap* map_second_b = nullptr) {
  const u32 rank = Config::kCluster > 1 ? ptx::cluster_rank() : 0;
  const Tensor<Config> gemm{&map_a, &map_b, map_second_b, p, ptx::shared_address(ptx::dynamic_shared()), rank};
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    if constexpr (Epilogue::kRowResident && Config::kCluster > 1) {
      for (int warp = 0; warp < 4 * Config::kGroups; ++warp) gemm.row_exchange(warp).init();
    }
    gemm.init_barriers();
  }
  if constexpr (Config::kCluster > 1)
    ptx::cluster_sync();
  else
    __syncthreads();
  ptx::wait_for_previous_kernel();
  ptx::let_next_kernel_start();  // now: what starts then may read what the kernel before this one left
  if (group == Config::kGroups) {
    if constexpr (Config::kGroups == 2) ptx::shrink_registers<40>();
    const int warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
    if (warp == 0 && threadIdx.x % 32 == 0) gemm.load_a();
    if (warp == 1 && threadIdx.x % 32 == 0) gemm.load_b();
  } else {
    if constexpr (Config::kGroups == 2) ptx::grow_registers<232>();
    gemm.consume(epilogue, &map_out, group);
  }
  if constexpr (Config::kCluster > 1) {
    ptx::sync_warp();
    ptx::cluster_sync();
  }
}

}  // namespace solstice::gemm
