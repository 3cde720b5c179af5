// The common part of the roles of a grouped product (grouped.h): the block, and the tiles of which the producer tells
// the consumers.
#pragma once

#include "gemm/grouped_config.h"

namespace solstice::gemm {

// Tiles on their way from the producer to the consumers, which learn of one with its first stage. One place more than
// the ring of stages has slots, since a release may overtake loads (tensor_config.h).
template <int kPlaces>
struct TilePlaces {
  scheduler::GroupTile* places;
  int place = 0;

  SOLSTICE_DEVICE scheduler::GroupTile& at() const { return places[place]; }
  SOLSTICE_DEVICE void advance() { place = place + 1 == kPlaces ? 0 : place + 1; }
  // By one thread, once the slot of the tile's first stage is empty.
  SOLSTICE_DEVICE void tell(const scheduler::GroupTile& tile) {
    at() = tile;
    advance();
  }
};

// The sequence of tiles as consumers see it. The last one is of no group (`group` < 0), and has a stage as well. Who
// takes a tile takes its stages from the rings.
template <int kPlaces, class Rings>
struct ToldTiles {
  TilePlaces<kPlaces> told;
  const Rings& rings;

  template <class F>
  SOLSTICE_DEVICE void for_each(F&& f) const {
    TilePlaces<kPlaces> from = told;
    for (;; from.advance()) {
      rings.wait_full();
      const scheduler::GroupTile tile = from.at();
      ptx::sync_warp();  // every lane has read it: one of them releases the tile's slots
      f(tile);
      if (tile.group < 0) break;
    }
  }
};

// The block, as every role knows it.
template <class Config>
struct GroupedBlock {
  using Slots = typename Config::Slots;
  static constexpr bool kRows = Config::kRagged == Ragged::kRows;
  static constexpr int kN = Config::kN, kCluster = Config::kCluster;
  static constexpr int kRegisters = kN / 2;
  static constexpr int kProducers = 128;

  const TensorMap* map_a;
  const TensorMap* map_b;
  const GroupedProblem& p;
  u32 shared;
  const int* offsets;
  TilePlaces<Config::kTold> told;
  u32 rank;       // in the cluster
  u32 scattered;  // what does not lie one after another: bit 0 rows of the result, 1 lines of A, 2 lines of B

  SOLSTICE_DEVICE static Slots slots(u32 shared) { return Slots(shared, {shared + Config::kOffsetBarriers}); }
  SOLSTICE_DEVICE Slots slots() const { return slots(shared); }
  SOLSTICE_DEVICE scheduler::Grouped<Config, GroupedProblem> tiles() const {
    return {p, offsets, static_cast<int>(rank)};
  }
  // Operands whose lines do not lie one after another come line by line.
  SOLSTICE_DEVICE bool gathers_a() const { return scattered & 2; }
  SOLSTICE_DEVICE bool gathers_b() const { return !kRows && scattered & 4; }

  SOLSTICE_DEVICE static void init_barriers(u32 shared) {
    slots(shared).init(kProducers + 1, 8 * kCluster);
    ptx::barrier_init_fence();
  }
};

}  // namespace solstice::gemm
