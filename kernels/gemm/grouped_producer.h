// The producer warpgroup of grouped products (grouped.h): it finds the tiles, tells the consumers of them, and brings
// their operands, as boxes by the copy engine or line by line.
#pragma once

#include "copy/async.h"
#include "copy/tma.h"
#include "gemm/grouped_block.h"

// part: producer

namespace solstice::gemm {

template <class Config>
struct GroupedProducer : GroupedBlock<Config> {
  using Base = GroupedBlock<Config>;
  using Base::kRows, Base::kN, Base::kCluster, Base::kProducers, Base::p, Base::rank, Base::told, Base::map_a,
      Base::map_b, Base::tiles, Base::slots, Base::gathers_a, Base::gathers_b;
  using typename Base::Slots;

  // The boxes of an operand for this CTA, or, where both of a cluster need the same lines, this CTA's half for both.
  template <mma::Major kMajor, int kLines>
  SOLSTICE_DEVICE void load_operand(u32 to, const TensorMap* map, int line, int k, int z, u32 full, bool shared) const {
    constexpr bool kByK = kMajor == mma::Major::kK;
    constexpr int kBoxes = kByK ? kCluster : kLines / 64, kBoxLines = kLines / kBoxes, kPart = kBoxes / kCluster;
#pragma unroll
    for (int i = 0; i < kBoxes; ++i) {
      const int x = kByK ? k : line + i * kBoxLines, y = kByK ? line + i * kBoxLines : k;
      const u32 place = to + i * kBoxLines * mma::kRowBytes;
      if (kCluster == 1 || !shared)
        copy::load_box(place, map, x, y, z, full);
      else if (i / kPart == static_cast<int>(rank))
        copy::load_box_multicast(place, map, x, y, z, full, (1 << kCluster) - 1);
    }
  }
  SOLSTICE_DEVICE void load_a(const Slots& ring, const scheduler::GroupTile& t, int k) const {
    load_operand<Config::kMajorA, Config::kTileM>(ring.address(), map_a, t.m0, k, 0, ring.full(), t.along_n);
  }
  SOLSTICE_DEVICE void load_b(const Slots& ring, const scheduler::GroupTile& t, int k) const {
    load_operand<Config::kMajorB, kN>(ring.address() + Config::kPlaneA, map_b, t.n0, k, kRows ? t.group : 0,
                                      ring.full(), !t.along_n);
  }

  // Consumers learn what a tile is with its first stage. Where there is no k, and for the tile of no group behind the
  // last one, a stage comes with nothing in it.
  SOLSTICE_DEVICE static void pass(Slots& ring, int arrivals) {
    ptx::barrier_arrive(ring.full(), arrivals);
    ring.advance();
  }
  SOLSTICE_DEVICE static scheduler::GroupTile last_tile() { return {-1, 0, 0, 0, 0, 0, 0, false, false}; }

  // One thread, where the copy engine brings all.
  SOLSTICE_DEVICE void produce_boxes() const {
    Slots ring = slots();
    auto to = told;
    const auto tell = [&](const scheduler::GroupTile& t) {
      ring.wait_empty();
      to.tell(t);
    };
    tiles().for_each([&](const scheduler::GroupTile& t) {
      tell(t);
#pragma unroll 1
      for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
        ring.wait_empty();
        ptx::barrier_arrive_expect(ring.full(), Config::kPlaneA + Config::kPlaneB);
        load_a(ring, t, k);
        load_b(ring, t, k);
        ptx::barrier_arrive(ring.full(), kProducers);
      }
      if (!kRows && t.first >= t.last) pass(ring, kProducers + 1);
    });
    tell(last_tile());
    pass(ring, kProducers + 1);
  }

  // All threads wait for a slot, also where one fills it: a thread that fell a round of the ring behind would take one
  // fill for another.
  SOLSTICE_DEVICE void produce_gathered() const {
    const int thread = threadIdx.x % kProducers;
    Slots ring = slots();
    auto to = told;
    const bool gather_a = gathers_a(), gather_b = gathers_b();
    const int arrivals = thread == 0 ? 2 : 1;
    const auto tell = [&](const scheduler::GroupTile& t) {
      if (thread != 0) return;
      ring.wait_empty();
      to.tell(t);
    };
    tiles().for_each([&](const scheduler::GroupTile& t) {
      tell(t);
      mainloop::Lines<kRows ? Config::kTileM : 64> lines_a;
      mainloop::Lines<64> lines_b;
      // Of a gradient, a stage's lines are looked up while the one before is on its way.
      const auto find = [&](int k) {
        if (gather_a) lines_a.find(p.table, p.a, !gather_a, kRows ? t.m0 : k, kRows ? t.m : t.last, thread);
        if (gather_b) lines_b.find(p.table, p.b, !gather_b, k, t.last, thread);
      };
      find(t.first);
#pragma unroll 1
      for (int k = t.first; k < t.last; k += Config::kStageK, ring.advance()) {
        ring.wait_empty();
        if (thread == 0) {
          ptx::barrier_arrive_expect(ring.full(), (gather_a ? 0 : Config::kPlaneA) + (gather_b ? 0 : Config::kPlaneB));
          if (!gather_a) load_a(ring, t, k);
          if (!gather_b) load_b(ring, t, k);
        }
        if constexpr (kRows) {
          mainloop::gather_rows(ring.address(), thread, p.a, lines_a, k, p.k);
        } else {
          if (gather_a) mainloop::gather_k<Config::kTileM>(ring.address(), thread, p.a, lines_a, t.m0, p.m);
          if (gather_b) mainloop::gather_k<kN>(ring.address() + Config::kPlaneA, thread, p.b, lines_b, t.n0, p.n);
        }
        copy::async_arrive(ring.full());
        if (!kRows) find(k + Config::kStageK);
      }
      if (!kRows && t.first >= t.last) ring.wait_empty(), pass(ring, arrivals);
    });
    tell(last_tile());
    ring.wait_empty();
    pass(ring, arrivals);
  }

  SOLSTICE_DEVICE void produce() const {
    if (gathers_a() || gathers_b())
      produce_gathered();
    else if (threadIdx.x % kProducers == 0)
      produce_boxes();
  }
};

}  // namespace solstice::gemm
