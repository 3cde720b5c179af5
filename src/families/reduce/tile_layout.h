// Tiles of a reduce kernel: the axis that stays is contiguous in memory, and the reduced ones lie across it.
//
// A block takes a tile of neighbouring columns and a part of the reduced rows. One warp copies runs of rows in bulk
// into a ring of shared memory, whatever their alignment; the other threads read them from there, each its own columns.
// If rows are short and contiguous, a run is several whole rows, which groups of threads share. If columns are aligned
// there is no ring: each warp of a block loads 16-byte columns of its rows, several rows ahead, and the warps' results
// are folded in shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "families/reduction/shape.h"
#include "families/run_copies.h"
#include "ir/knobs.h"
#include "machine/machine.h"

namespace solstice::families::reduce {

struct Layout {
  std::vector<RunRead> streams;
  int64_t columns = 0;  // extent of the axis that stays and is contiguous
  int64_t reduced = 0;  // rows that are reduced
  int64_t outer = 1;    // the other kept extents: outputs are outer x columns
  int threads = 256;    // that read; one warp more copies
  int vector = 1;       // neighbouring columns a thread reads at once, where all streams are aligned to it
  int lanes = 4;        // columns of a thread: neighbours where vector > 1, else `threads` apart
  int ahead = 0;        // > 0: no ring; rows that a thread loads before it reduces them
  int groups = 0;       // > 0: threads that share columns: a run is whole rows, or rows pass through registers
  int rows = 4;         // a slot
  int slots = 4;
  int split = 1;  // blocks that take every split-th slot of rows each, folded by a second kernel
  int64_t slot_bytes = 0;

  bool direct() const { return ahead > 0; }
  bool whole_rows() const { return groups > 0 && !direct(); }
  int64_t tile() const { return whole_rows() ? columns : direct() ? int64_t{32} * lanes : int64_t{threads} * lanes; }
  int block_threads() const { return direct() ? threads : threads + 32; }
  int64_t tiles() const;
  int64_t outputs() const { return outer * columns; }
  int64_t blocks() const { return tiles() * split * outer; }
  int64_t ring_bytes() const { return slots * (slot_bytes + 16); }
  int64_t bytes_ahead() const;  // of a block's loads or copies
  int resident_blocks(int64_t shared_per_sm) const;
};

// Errors: illegal_knobs, with the reason why the family does not fit or which sum exceeds what limit.
Result<Layout> layout_of(const ir::Program& program, const reduction::Shape& shape, const ir::Knobs& knobs,
                         const machine::Machine* machine);

}  // namespace solstice::families::reduce
