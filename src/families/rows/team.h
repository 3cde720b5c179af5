// Long rows that a team of blocks shares. Each block takes a part of the row: it comes in bulk through a ring of shared
// memory, which fills with the next rows' data meanwhile, and stays in registers until the row is done. What the blocks
// find of their parts (local.h) they tell each other through global memory (kernels/rows/team.h), once a row. Groups of
// a block's threads take rows in turn, so that one group computes while another waits for the exchange.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "families/family.h"
#include "families/rows/shape.h"
#include "families/run_copies.h"
#include "ir/knobs.h"
#include "machine/machine.h"

namespace solstice::families::rows {

inline constexpr int kWarpgroup = 128;  // threads

struct Team {
  std::vector<RunRead> streams;  // the row's data
  int blocks = 1;                // that share a row
  int64_t teams = 1;
  int groups = 2;
  int threads = 256;  // of a group
  int vector = 1;
  int64_t vectors = 0;  // of a row
  int64_t steps = 0;    // vectors of a part that one thread takes, at most
  int64_t chunk = 1;    // steps that one slot of the ring feeds
  int slots = 0;
  int64_t slot_bytes = 0;

  // Of the groups, and a warpgroup whose first warp copies.
  int block_threads() const { return groups * threads + kWarpgroup; }
  int64_t grid() const { return teams * blocks; }
  int64_t chunks() const { return (steps + chunk - 1) / chunk; }
  // Parts differ by one vector at most: steps that every thread of every block has.
  int64_t sure_steps() const { return vectors / blocks / threads; }
  // Registers of a thread that computes, of one that copies.
  int registers() const;
  static constexpr int kCopyRegisters = 24;
  // Of all rows, whose data and results are `traffic`, on a machine that copies at `copy` with `sms`. As measured on an
  // H200: a part at a share of an SM's copy rate, and what blocks wait for each other.
  Seconds time(const Shape& shape, Bytes traffic, BytesPerSecond copy, int sms) const;
};

// With the knob `team`, or where rows are too long for a cluster. Errors: illegal_knobs, with the reason.
Result<Team> team_of(const ir::Program& program, const Shape& shape, const ir::Knobs& knobs, const machine::Machine& machine);

Result<Emission> emit_team(const ir::Program& program, const ir::Kernel& kernel, Shape& shape, const Team& team);

}  // namespace solstice::families::rows
