// Rows that all blocks of the grid share: tiles are numbered row by row, and in a round each block takes the one of its own
// number behind those of the round before. Blocks tell each other what their tiles hold (rows/team.h: all of them are
// resident, and a value travels with the number of its round), and each adds up what it needs in the order of the tiles:
// results do not depend on timing.
#pragma once

#include "rows/team.h"
#include "scan/scan.h"

namespace solstice::scan {

// kThreads a block. `offers` has room for two rounds, `slots` for two values of each warp in two rounds.
template <class Op, typename T, int kBlocks, int kThreads>
class Shared {
 public:
  SOLSTICE_DEVICE Shared(rows::Offer* offers, T* slots, int rank) : offers_(offers), slots_(slots), rank_(rank) {}

  // Before this block's tile of the round: it is number `tile` of its row, the round's last one number `last` of its own.
  SOLSTICE_DEVICE void begin(int round, int tile, int last) {
    round_ = round;
    tile_ = tile;
    last_ = last;
  }

  SOLSTICE_DEVICE T before(T all) {
    rows::Offer* const offers = offers_ + round_ % 2 * kBlocks;
    const auto number = static_cast<u32>(round_) + 1;
    if (threadIdx.x == 0) rows::offer(all, number, offers + rank_);
    const int first = tile_ < rank_ ? rank_ - tile_ : 0;                      // where this tile's row begins in the round
    const int first_of_last = last_ < kBlocks - 1 ? kBlocks - 1 - last_ : 0;  // where the last tile's does
    T mine = Op::template start<T>(), rest = Op::template start<T>();
    const int begin = static_cast<int>(threadIdx.x) * kEach;
#pragma unroll
    for (int i = begin; i < begin + kEach; ++i) {
      if (i >= kBlocks) break;
      const T value = rows::wait_for<T>(offers + i, number);
      if (i >= first && i < rank_) mine = Op::template combine<T>(mine, value);
      if (i >= first_of_last) rest = Op::template combine<T>(rest, value);
    }
    fold(mine, rest);
    const T out = tile_ > rank_ ? Op::template combine<T>(carry_.get(), mine) : mine;
    if (last_ < kBlocks) carry_ = {};
    carry_.add(rest);
    return out;
  }

 private:
  static constexpr int kEach = (kBlocks + kThreads - 1) / kThreads;         // offers a thread takes
  static constexpr int kWarps = ((kBlocks + kEach - 1) / kEach + 31) / 32;  // that take any

  // Both over the whole block, in the order of its threads.
  SOLSTICE_DEVICE void fold(T& mine, T& rest) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    T* const slots = slots_ + round_ % 2 * 2 * (kThreads / 32);
    if (warp < kWarps) {
      mine = scan_lanes<Op, 32>(mine, lane);
      rest = scan_lanes<Op, 32>(rest, lane);
      if (lane == 31) slots[2 * warp] = mine, slots[2 * warp + 1] = rest;
    }
    rows::sync_block();
    mine = slots[0], rest = slots[1];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) {
      mine = Op::template combine<T>(mine, slots[2 * w]);
      rest = Op::template combine<T>(rest, slots[2 * w + 1]);
    }
  }

  rows::Offer* offers_;
  T* slots_;
  int rank_, round_ = 0, tile_ = 0, last_ = 0;
  Carry<Op, T> carry_;
};

}  // namespace solstice::scan
