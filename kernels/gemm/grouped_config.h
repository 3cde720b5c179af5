// A grouped product's operands, and how a block of it is laid out (grouped.h).
#pragma once

#include "epilogue/staged.h"
#include "gemm/cluster.h"
#include "gemm/group_rows.h"
#include "kernel/warp_specialized.h"
#include "mainloop/accumulate.h"
#include "mainloop/gather_source.h"
#include "scheduler/grouped.h"

namespace solstice::gemm {

using scheduler::Ragged;

// The direction decides the layout of A, how sums begin (those of a forward product may be added to behind the loop),
// and the registers of a thread, 504 for the three warpgroups: lines of two operands, which a gradient may gather, need
// more than 40.
template <Ragged kRagged>
struct RaggedTraits;
template <>
struct RaggedTraits<Ragged::kRows> {
  static constexpr mma::Major kMajorA = mma::Major::kK;
  using Start = mainloop::FirstApart;
  using Registers = kernel::SplitRegisters<40, 232>;
};
template <>
struct RaggedTraits<Ragged::kK> {
  static constexpr mma::Major kMajorA = mma::Major::kMN;
  using Start = mainloop::FirstMarked;
  using Registers = kernel::SplitRegisters<88, 208>;
};

// A cluster along m has its rows of a tile along n instead where a group's last ones are too low for it.
template <class Math, Ragged kRagged_, mma::Major kMajorB_, int kN_, int kSlots_, class Cluster_>
struct GroupedConfig {
  using Cluster = Cluster_;
  static constexpr Ragged kRagged = kRagged_;
  using Traits = RaggedTraits<kRagged>;
  static constexpr mma::Major kMajorA = Traits::kMajorA, kMajorB = kMajorB_;
  static constexpr int kN = kN_, kCluster = Cluster::kBlocks;
  static constexpr int kTileM = 128, kStageK = 64;
  static constexpr int kThreads = 384;
  static constexpr int kPlaneA = kTileM * mma::kRowBytes, kPlaneB = kN * mma::kRowBytes;
  using Slots = pipeline::Ring<kSlots_, kPlaneA + kPlaneB>;
  using Rings = mainloop::JointRing<Slots, kPlaneA, kCluster>;
  using Product = mainloop::StageProduct<Math, kMajorA, kMajorB, kN, kPlaneA, kPlaneB>;

  static constexpr int kTold = kSlots_ + 1;  // places for tiles that consumers are told of (grouped_block.h)

  // Shared memory, in this order; then offsets of the groups.
  static constexpr int kOffsetStaging = Slots::kBytes;
  static constexpr int kOffsetBarriers = kOffsetStaging + 8 * kStageBuffers * kStageBytes;
  static constexpr int kOffsetTold = kOffsetBarriers + Slots::kBarriersBytes;
  static constexpr int kOffsetGroups = kOffsetTold + kTold * static_cast<int>(sizeof(scheduler::GroupTile));
  static constexpr int kSharedBytes = kOffsetGroups;
  static_assert(Math::kPlanes == 1 && !Math::kPromoted && !Math::kScaled && Math::Type::kBytes == 2,
                "operands are multiplied as they are stored");
  static_assert(kRagged == Ragged::kRows || kMajorB == mma::Major::kMN,
                "a gradient's operands are contiguous in their lines");
};

struct GroupedProblem {
  int m, n, k;  // extents; of what is ragged, over all groups
  int group;    // row tiles (of a cluster) walked before the next column of tiles
  GroupTable table;
  mainloop::GatheredOperand a, b;  // `b` of a gradient
  float* partials;                 // of the last tiles of a forward product, a tile for each block
};

}  // namespace solstice::gemm
