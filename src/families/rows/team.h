// Long rows that a team of blocks shares: each holds its part in shared memory, filled in bulk while earlier rows are
// worked on, and the blocks of a team exchange what they found through global memory (kernels/rows/team.h). Groups of a
// block's threads take rows in turn, so that one group computes while another waits for the exchange.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "families/family.h"
#include "families/rows/emit.h"
#include "families/rows/shape.h"
#include "families/run_copies.h"
#include "ir/knobs.h"
#include "machine/machine.h"

namespace solstice::families::rows {

struct Team {
  std::vector<RunRead> streams;  // the row's data
  int blocks = 1;                // that share a row
  int64_t teams = 1;
  int groups = 2;
  int threads = 256;  // of a group
  int slots = 3;
  int vector = 1;
  int64_t part = 0;  // vectors of a row that a block holds
  int64_t slot_bytes = 0;

  int block_threads() const { return groups * threads + 32; }
  int64_t grid() const { return teams * blocks; }
  // Blocks that have work, on average over all rows.
  double busy(const Shape& shape) const;
};

// With the knob `team`, or where the rows are too long for a cluster. Errors: illegal_knobs, with the reason why not.
Result<Team> team_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, const machine::Machine& machine);

Result<Emission> emit_team(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team);

}  // namespace solstice::families::rows
