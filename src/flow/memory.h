// What measuring a problem takes of a GPU's memory, predicted before anything is allocated.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "ir/program.h"

namespace solstice::flow {

// Least, with the float64 oracle computed in parts. Larger where intermediates are.
struct MemoryNeed {
  Bytes given;     // inputs, parameters and states, once
  Bytes results;   // once, as the program has them
  Bytes oracle;    // the module and its results in float64
  Bytes total() const { return given * 2 + results * 2 + oracle; }  // the oracle's copies and the runner's
};

MemoryNeed memory_need(const ir::Program& program);

// Error too_large, with the figures and the way out, where `available` is less.
Status fits(const MemoryNeed& need, Bytes available);

}  // namespace solstice::flow
