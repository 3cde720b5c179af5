// Time of moving a kernel's bytes, for the cost models of families that memory bounds. Rates are the machine's
// calibrated ceilings; the other constants were fitted to `bench families` on an H200 (docs/measured/families.md).
#pragma once

#include "codegen/flatten.h"
#include "families/family.h"

namespace solstice::families {

struct Moved {
  Bytes read, written;
  Bytes all() const { return read + written; }
};
// Bytes that a kernel must move if every touched element crosses the memory bus once (codegen::traffic_of, by
// direction).
Moved moved_by(const ir::Program& program, const codegen::FlatKernel& flat);

// At the rate that reads and writes reach together: that of reading and of copying are calibrated. What ran before
// leaves lines in L2 that must be written to make room; as many of the kernel's own results stay there. Error
// bad_machine.
Result<Seconds> dram_time(const machine::Machine& machine, Moved moved);

// The rate of each of `sms` SMs that has `in_flight` bytes on their way for `latency` (Little's law), at most what
// its port to L2 passes.
Seconds flow_time(const machine::Machine& machine, Bytes moved, double sms, Bytes in_flight, Seconds latency);

// A second kernel that folds what blocks of the first one found: it begins when the first has ended.
inline constexpr Seconds kFold{3.0e-6};

}  // namespace solstice::families
