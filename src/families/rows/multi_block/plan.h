// Long rows that a team of blocks shares. A row is cut into pieces, and each block takes some that follow each other:
// they come in bulk through a ring of shared memory and stay there until the row is done. Each piece is used twice:
// when it arrives, to accumulate the block's part (reduction/online.h), and again when all blocks' accumulators are
// known, to store. Between the two lie the block's other pieces of the row and the first ones of the next
// row, so that nobody waits for the exchange (kernels/reduction/multi_block.h), which a warp of its own does once a
// row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "families/family.h"
#include "families/reduction/shape.h"
#include "families/run_copies.h"
#include "ir/knobs.h"
#include "machine/machine.h"

namespace solstice::families::rows {

using namespace reduction;

// Data that every row uses alike (weights), kept in shared memory from row to row: a block's columns of them.
struct HeldWeights {
  ir::ExprRef read;
  int tensor = -1;
  int element = 4;     // bytes
  int64_t offset = 0;  // bytes from the ring's end
};

struct MultiBlock {
  std::vector<RunRead> streams;  // the row's data
  int blocks = 1;                // that share a row
  int64_t teams = 1;
  int threads = 512;              // of a block that compute; one more warp copies and one exchanges
  int groups = 1;                 // of these threads; the groups take pieces in turn, each a whole one
  bool even = false;              // pieces, but those at a run's end, are as many vectors for each thread of a group
  std::vector<HeldWeights> held;  // all of the kernel's weights, or none
  int64_t held_bytes = 0;
  int vector = 1;
  bool shifted =
      false;  // vectors are aligned in memory, rows are not: the first begins up to vector - 1 elements before its run
  bool flat = false;   // the row lies in one run of memory, whatever its indices; else each innermost loop is a run
  int64_t runs = 1;    // of a row
  int64_t extent = 0;  // elements of a run
  int64_t run = 0;     // vectors of a run, at most
  int64_t pieces = 1;  // of a run
  int64_t piece = 1;   // vectors of a piece, at most: what a slot of the ring holds
  int64_t lag = 0;     // pieces of the next row that are reduced before a row is stored
  int slots = 0;
  int64_t slot_bytes = 0;
  bool holds = true;                      // pieces stay until the row is done, since something is stored along it
  int results = 0;                        // reductions of a row
  static constexpr int64_t kRounds = 4;   // rows that a block has accumulators and results of
  static constexpr int64_t kSignal = 16;  // bytes

  int warps() const { return threads / 32; }
  int64_t result_slots() const {
    return kRounds * (results + 1);
  }  // of 8 bytes; a set for each warp's accumulators and one of the row's results
  // Shared memory without the ring and the weights.
  int64_t aside() const { return (2 * kRounds + 1) * kSignal + 8 * result_slots() * (warps() + 1); }
  int group_threads() const { return threads / groups; }
  int block_threads() const { return threads + 64; }
  // Held weights: vectors of the block's pieces, and the margin of windows around shifted vectors.
  int64_t held_vectors() const { return chunks() * piece + (shifted ? 2 : 0); }
  int64_t grid() const { return teams * blocks; }
  int64_t row_pieces() const { return runs * pieces; }
  int64_t chunks() const {
    return (row_pieces() + blocks - 1) / blocks;
  }  // pieces of a row that a block takes, at most
  int64_t least_chunks() const { return std::max<int64_t>(1, row_pieces() / blocks); }
  int64_t steps() const {
    return (piece + group_threads() - 1) / group_threads();
  }  // vectors of a piece that a thread takes
  // Time of all rows, whose data and results are `traffic`, on a machine that copies at `copy` with `sms`.
  Seconds time(const Shape& shape, Bytes traffic, BytesPerSecond copy, int sms) const;
};

// With the knob `team`, or where rows are too long for a cluster. Errors: illegal_knobs, with the reason.
Result<MultiBlock> multi_block_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs,
                                  const machine::Machine& machine);

}  // namespace solstice::families::rows
