// The cut of a tensor-core product (tensor.h): its tile, its rings, its cluster, and where they lie in shared memory.
#pragma once

#include "epilogue/staged.h"
#include "gemm/cluster.h"
#include "kernel/warp_specialized.h"
#include "mainloop/box_source.h"
#include "mainloop/stage_product.h"
#include "mainloop/wgmma.h"
#include "pipeline/stream_k_fixup.h"
#include "scheduler/persistent.h"
#include "scheduler/stream_k.h"
#include "scheduler/triangular.h"

namespace solstice::gemm {

// 64 * kGroups rows x kN * kHalves columns, multiplied kN columns at a time.
template <int kN_, int kHalves_, int kGroups_>
struct TensorTile {
  static constexpr int kN = kN_, kHalves = kHalves_, kGroups = kGroups_;
};
template <int kOfA, int kOfB>
struct TensorSlots {
  static constexpr int kA = kOfA, kB = kOfB;
};
// Sums that share A, each with a B of its own: half of an accumulator's columns, or with promotion half of the tile,
// are of B, the others the same columns of a second B. So a thread holds both sums of an element.
struct OneSum {
  static constexpr int kSums = 1;
};
struct TwoSums {
  static constexpr int kSums = 2;
};

// Of a thread in each role, by the number of consumer warpgroups.
template <int kGroups>
struct TensorRegisters {
  using Split = kernel::KeepRegisters;
};
template <>
struct TensorRegisters<2> {
  using Split = kernel::SplitRegisters<40, 232>;
};

template <class Math_, mma::Major kMajorA_, mma::Major kMajorB_, class Tile, class Slots, class Cluster_,
          class Scheduler_ = scheduler::Persistent, class Sums = OneSum>
struct TensorConfig {
  using Math = Math_;
  using Scheduler = Scheduler_;
  using Cluster = Cluster_;
  static constexpr mma::Major kMajorA = kMajorA_, kMajorB = kMajorB_;
  static constexpr int kN = Tile::kN, kHalves = Tile::kHalves, kGroups = Tile::kGroups, kCluster = Cluster::kBlocks,
                       kShareA = Cluster::kShareA, kShareB = Cluster::kShareB, kSums = Sums::kSums;
  static constexpr bool kMayBeEmpty = Scheduler::kMayBeEmpty;
  static constexpr int kTileM = 64 * kGroups, kTileN = kN * kHalves / kSums;  // of the result
  static constexpr int kStageK = mma::kRowBytes / Math::Type::kBytes;
  static constexpr int kThreads = 128 * (kGroups + 1);
  using Registers = typename TensorRegisters<kGroups>::Split;
  static constexpr int kRegisters = kN / 2;  // of one accumulator

  static constexpr int kPlaneA = kTileM * mma::kRowBytes, kPlaneB = kN * mma::kRowBytes;
  using RingA = pipeline::Ring<Slots::kA, Math::kPlanes * kPlaneA>;
  using RingB = pipeline::Ring<Slots::kB, Math::kPlanes * kPlaneB>;
  // Slots are released by arrives, and an arrive, in this CTA or another, may overtake loads from shared memory that
  // are still on their way: no warp can fall behind (each arrives for itself), but its last scales can. They have one
  // slot more than planes: it is filled again only after the arrival that follows, and before that their values have
  // been used, since the sums they scale are added to next. (Planes are read by wgmma, which has ended by then.) Every
  // lane arrives for the scales that it has read, and who fills a slot fences its copy from them (they are of another
  // proxy).
  static constexpr pipeline::Readers kReaders = Math::kScaled ? pipeline::Readers::kLanes : pipeline::Readers::kWarps;
  using Rings = mainloop::TwoRings<RingA, RingB, kShareA, kShareB, kReaders>;
  static constexpr int kScaleA = Math::kScaled ? mainloop::kScaleBytesA * kTileM : 0,
                       kScaleB = Math::kScaled ? mainloop::kScaleBytesB * kN : 0;
  using ScalesA = pipeline::SideSlots<Slots::kA + 1, kScaleA>;
  using ScalesB = pipeline::SideSlots<Slots::kB + 1, kScaleB>;

  using Product = mainloop::StageProduct<Math, kMajorA, kMajorB, kN, kPlaneA, kPlaneB>;
  using SourceA = mainloop::BoxSource<Math, kMajorA, kShareA, kTileM, 1, mainloop::kScaleBytesA, RingA, ScalesA>;
  using SourceB = mainloop::BoxSource<Math, kMajorB, kShareB, kN, kHalves, mainloop::kScaleBytesB, RingB, ScalesB,
                                      kSums == 1     ? mainloop::Operands::kOne
                                      : kHalves == 1 ? mainloop::Operands::kHalvesOfSlots
                                                     : mainloop::Operands::kSlots>;

  // Shared memory, in this order.
  static constexpr int kOffsetB = RingA::kBytes;
  static constexpr int kOffsetStaging = kOffsetB + RingB::kBytes;
  static constexpr int kOffsetScaleA = kOffsetStaging + 4 * kGroups * kStageBuffers * kStageBytes;
  static constexpr int kOffsetScaleB = kOffsetScaleA + ScalesA::kBytes;
  static constexpr int kOffsetBarriersA = kOffsetScaleB + ScalesB::kBytes;
  static constexpr int kOffsetBarriersB = kOffsetBarriersA + RingA::kBarriersBytes;
  static constexpr int kSharedBytes = kOffsetBarriersB + RingB::kBarriersBytes;
  static_assert(kSharedBytes <= 232448, "more shared memory than a block may have");
  static_assert(kSums == 1 || (kHalves == 2 ? Math::kPromoted : kN >= 128), "each of two sums has 64 columns or more");
  static_assert(Math::Type::kBytes == 2 || (kMajorA == mma::Major::kK && kMajorB == mma::Major::kK),
                "only operands of 2 bytes may be MN-major");

  // The rings at their beginning: each role has its own places in them.
  SOLSTICE_DEVICE static RingA ring_a(u32 shared) { return {shared, {shared + kOffsetBarriersA}}; }
  SOLSTICE_DEVICE static RingB ring_b(u32 shared) { return {shared + kOffsetB, {shared + kOffsetBarriersB}}; }
  SOLSTICE_DEVICE static ScalesA scales_a(u32 shared) { return ScalesA(shared + kOffsetScaleA); }
  SOLSTICE_DEVICE static ScalesB scales_b(u32 shared) { return ScalesB(shared + kOffsetScaleB); }
  SOLSTICE_DEVICE static void init_rings(u32 shared) {
    ring_a(shared).init(1, 4 * kGroups * pipeline::kArrivals<kShareA, kReaders>);
    ring_b(shared).init(1, 4 * kGroups * pipeline::kArrivals<kShareB, kReaders>);
  }
};

// Extents, and the scales of a scaled split: scales[batch][chunk][stride], or, of whole lines, floats [batch][stride].
struct Problem {
  int m, n, k, batches;
  int group;           // row tiles (of a cluster) walked before the next column of tiles
  const u8* scales_a;  // exponents
  const u8* scales_b;  // float
  int scale_stride_a, scale_stride_b;
  scheduler::HalfPlane needed;  // of scheduler::Triangular
  const u8* scales_second_b = nullptr;
  scheduler::StreamKTiles shared = {};  // of scheduler::StreamK, in tiles of a cluster
  pipeline::StreamKWorkspace sums = {};
};

}  // namespace solstice::gemm
