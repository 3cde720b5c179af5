// The GPU memory that measuring a problem takes, predicted before anything is allocated.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "ir/program.h"
#include "machine/machine.h"

namespace solstice::flow {

// Least, with the float64 oracle computed in parts. Larger where intermediates are.
struct MemoryNeed {
  Bytes given;                                                      // inputs, parameters and states, once
  Bytes state;                                                      // parameters and states alone
  Bytes results;                                                    // once, as the program has them
  Bytes exact;                                                      // the results in float64
  Bytes oracle;                                                     // the module and its results in float64
  Bytes total() const { return given * 2 + results * 2 + oracle; }  // the oracle's copies and the runner's
  // Other inputs for the same parameters: they, PyTorch's results, and those in float64.
  Bytes another_case() const { return given - state + results + exact; }
};

MemoryNeed memory_need(const ir::Program& program);

// True where a second case fits beside the first for a whole run: the runner's copies, and the float64 module while
// the case is made, need room too.
bool fits_another_case(const MemoryNeed& need, Bytes available);

// Error too_large, with the figures and the way out, where `available` is less; on the model device where the GPU that
// times would be predicted for could not measure it.
Status fits(const MemoryNeed& need, Bytes available);
Status fits(const MemoryNeed& need, const machine::Machine& machine);

}  // namespace solstice::flow
