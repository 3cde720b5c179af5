// From a sample to a plan and its sources, by the same way as a candidate's: parsed, checked, lowered. Knobs are the
// family's own choice, one of its proposals, or drawn from its table; what is illegal has to be refused in words.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "evaluate/lower.h"
#include "machine/machine.h"
#include "property/kernels/sample.h"

namespace solstice::random_kernels {

enum class Fate {
  kReady,
  kRefused,  // out of the family's reach; `why` says so
  kFault,    // a fault of the program: what was checked does not lower, an exception
  kInvalid,  // a fault of the generator: the program is no legal one
};

struct Prepared {
  Sample sample;  // with the knobs it was lowered with
  Fate fate = Fate::kReady;
  std::string why;
  std::optional<ir::Program> program;
  evaluate::Lowered lowered;
  int refused_knobs = 0;  // settings drawn that the family's rules refuse
};

Prepared prepare(Sample sample, uint64_t seed, const machine::Machine& machine);
// With the knobs that the sample has.
Prepared prepare_as_written(Sample sample, const machine::Machine& machine);

}  // namespace solstice::random_kernels
