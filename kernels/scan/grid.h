// Rows and columns that all blocks of the grid share, tile by tile: in a round each block takes the tile of its own
// number behind those of the round before. Blocks tell each other what their tiles hold (reduction/multi_block.h: all
// of them are resident, and a value travels with the number of its round), and each adds up what it needs in the order
// of the tiles: results do not depend on timing.
//
// A block tells of its next tile before it asks for what comes before this one, so that nobody waits for a message on
// its way; meanwhile its tile lies in shared memory (pipeline/thread_slots.h) and is scanned twice: for what it holds,
// and for its prefixes. Offers have room for four rounds: when a block tells of round r + 1 it has heard all of round r
// - 1, hence all blocks are done with round r - 3.
#pragma once

#include "pipeline/thread_slots.h"
#include "reduction/multi_block.h"
#include "scan/scan.h"

// part: look-back

namespace solstice::scan {

constexpr int kRounds = 4;  // that offers have room for

// An offer as it is now: several are on their way at once before any is waited for.
SOLSTICE_DEVICE reduction::Offer look(const reduction::Offer* from) {
#if defined(__CUDACC__)
  reduction::Offer seen;
  asm volatile("{\n.reg .b128 both;\nld.relaxed.gpu.global.b128 both, [%2];\nmov.b128 {%0, %1}, both;\n}"
               : "=l"(seen.value), "=l"(seen.row)
               : "l"(from)
               : "memory");
  return seen;
#else
  return *from;
#endif
}
template <typename T>
SOLSTICE_DEVICE T value_of(const reduction::Offer& seen) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bit_cast(T, seen.value);
  else
    return __builtin_bit_cast(T, static_cast<u32>(seen.value));
}

// Rows, numbered tile by tile, one after the other. `slots` has room for two values of each warp in two rounds.
template <class Op, typename T, int kBlocks, int kThreads>
class SharedRows {
 public:
  SOLSTICE_DEVICE SharedRows(reduction::Offer* offers, T* slots, int rank)
      : offers_(offers), slots_(slots), rank_(rank) {}

  SOLSTICE_DEVICE void tell(int round, T all) {
    if (threadIdx.x == 0)
      reduction::offer(all, static_cast<u32>(round) + 1, offers_ + round % kRounds * kBlocks + rank_);
  }

  // Looks at what the others told of a round, as far as it is there, some time before `before` needs it.
  SOLSTICE_DEVICE void glance(int round) {
    const reduction::Offer* const offers = offers_ + round % kRounds * kBlocks;
    const int begin = static_cast<int>(threadIdx.x) * kEach;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (begin + i < kBlocks) seen_[i] = look(offers + begin + i);
    }
  }

  // The prefix before this block's tile of the round, which is number `tile` of its row; the round's last one is number
  // `last` of its own row. Rounds are glanced at and asked for in their order.
  SOLSTICE_DEVICE T before(int round, int tile, int last) {
    const reduction::Offer* const offers = offers_ + round % kRounds * kBlocks;
    const int first = tile < rank_ ? rank_ - tile : 0;                      // where this tile's row begins in the round
    const int first_of_last = last < kBlocks - 1 ? kBlocks - 1 - last : 0;  // where the last tile's does
    T mine = Op::template start<T>(), rest = Op::template start<T>();
    const int begin = static_cast<int>(threadIdx.x) * kEach;
#pragma unroll
    for (int i = begin; i < begin + kEach; ++i) {
      if (i >= kBlocks) break;
      const auto number = static_cast<u32>(round) + 1;
      const reduction::Offer& seen = seen_[i - begin];
      const T value = seen.row == number ? value_of<T>(seen) : reduction::wait_for<T>(offers + i, number);
      if (i >= first && i < rank_) mine = Op::template combine<T>(mine, value);
      if (i >= first_of_last) rest = Op::template combine<T>(rest, value);
    }
    fold(mine, rest, slots_ + round % 2 * 2 * (kThreads / 32));
    const T out = tile > rank_ ? Op::template combine<T>(carry_.get(), mine) : mine;
    if (last < kBlocks) carry_ = {};
    carry_.add(rest);
    return out;
  }

 private:
  static constexpr int kEach = (kBlocks + kThreads - 1) / kThreads;         // offers a thread takes
  static constexpr int kWarps = ((kBlocks + kEach - 1) / kEach + 31) / 32;  // that take any

  // Both over the whole block, in the order of its threads.
  SOLSTICE_DEVICE void fold(T& mine, T& rest, T* slots) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    if (warp < kWarps) {
      mine = scan_lanes<Op, 32>(mine, lane);
      rest = scan_lanes<Op, 32>(rest, lane);
      if (lane == 31) slots[2 * warp] = mine, slots[2 * warp + 1] = rest;
    }
    reduction::sync_block();
    mine = slots[0], rest = slots[1];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) {
      mine = Op::template combine<T>(mine, slots[2 * w]);
      rest = Op::template combine<T>(rest, slots[2 * w + 1]);
    }
  }

  reduction::Offer* offers_;
  T* slots_;
  int rank_;
  reduction::Offer seen_[kEach];
  Carry<Op, T> carry_;
};

// Columns, whose tiles kTeam blocks take in turn. kGroup threads of a block, kApart from each other, hold a column, one
// element a step. `offers` are those of the column, kStride from block to block; `slots` has room for two values of
// each thread in two rounds.
template <class Op, typename T, int kTeam, int kGroup, int kApart, int kStride>
class SharedColumn {
 public:
  SOLSTICE_DEVICE SharedColumn(reduction::Offer* offers, T* slots, int member, int part)
      : offers_(offers), slots_(slots), member_(member), part_(part) {}

  SOLSTICE_DEVICE void tell(int round, T all) {
    if (part_ == 0)
      reduction::offer(all, static_cast<u32>(round) + 1, offers_ + (round % kRounds * kTeam + member_) * kStride);
  }

  SOLSTICE_DEVICE void glance(int) {}

  SOLSTICE_DEVICE T before(int round) {
    const reduction::Offer* const offers = offers_ + round % kRounds * kTeam * kStride;
    const auto number = static_cast<u32>(round) + 1;
    T mine = Op::template start<T>(), rest = Op::template start<T>();
    for (int first = part_ * kEach; first < (part_ + 1) * kEach && first < kTeam; first += kAhead) {
      reduction::Offer seen[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (i < (part_ + 1) * kEach - first && first + i < kTeam) seen[i] = look(offers + (first + i) * kStride);
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (i >= (part_ + 1) * kEach - first || first + i >= kTeam) break;
        const T value = seen[i].row == number ? value_of<T>(seen[i])
                                              : reduction::wait_for<T>(offers + (first + i) * kStride, number);
        if (first + i < member_) mine = Op::template combine<T>(mine, value);
        rest = Op::template combine<T>(rest, value);
      }
    }
    fold(mine, rest, slots_ + round % 2 * 2 * kGroup * kApart);
    const T out = Op::template combine<T>(carry_.get(), mine);
    carry_.add(rest);
    return out;
  }

 private:
  static constexpr int kEach = (kTeam + kGroup - 1) / kGroup;  // offers a thread takes
  static constexpr int kAhead = kEach < 8 ? kEach : 8;         // loads on their way

  // Both over the threads of the column, in the order of their parts.
  SOLSTICE_DEVICE void fold(T& mine, T& rest, T* slots) {
    const int column = static_cast<int>(threadIdx.x) % kApart;
    slots[part_ * kApart + column] = mine;
    slots[(kGroup + part_) * kApart + column] = rest;
    reduction::sync_block();
    mine = slots[column], rest = slots[kGroup * kApart + column];
#pragma unroll 4
    for (int p = 1; p < kGroup; ++p) {
      mine = Op::template combine<T>(mine, slots[p * kApart + column]);
      rest = Op::template combine<T>(rest, slots[(kGroup + p) * kApart + column]);
    }
  }

  reduction::Offer* offers_;
  T* slots_;
  int member_, part_;
  Carry<Op, T> carry_;
};

}  // namespace solstice::scan
