// Pipes that compute an equation's operations under a policy, and their rates: at the highest clock (for bounds) or at
// the measured ceiling (for estimates).
#pragma once

#include "ir/count.h"
#include "machine/machine.h"
#include "sol/options.h"
#include "sol/report.h"

namespace solstice::sol {

struct Rate {
  machine::Pipe pipe = machine::Pipe::kSimtF32;
  std::string math;       // "fp16x3", "simt"
  double per_second = 0;  // useful operations: products of planes count once
  bool measured = false;
};

// A read of it slides: an address in which a free and a bound index overlap, as of a convolution or a pooling.
bool reads_windows(const ir::Equation& equation);

enum class Basis { kHighest, kCeiling };

// For the multiply-adds of a contraction (2 operations each).
Result<Rate> contraction_rate(const ir::Program& program, const ir::EquationCount& equation,
                              const machine::Machine& machine, const SolOptions& options, Basis basis);
// For issue slots of the ordinary pipe (2 operations each), special functions, integer operations.
Result<Rate> simt_rate(DType dtype, const machine::Machine& machine, Basis basis);
Result<Rate> pipe_rate(machine::Pipe pipe, const machine::Machine& machine, Basis basis);

// All operations of an equation as terms, zero ones left out.
Result<std::vector<SolTerm>> work_terms(const ir::Program& program, const ir::EquationCount& equation,
                                        const machine::Machine& machine, const SolOptions& options, Basis basis);

// Time of the resource that takes longest, and its name; terms of one resource add up.
struct Longest {
  Seconds time;
  std::string resource = "none";
};
Longest longest(const std::vector<SolTerm>& terms);

}  // namespace solstice::sol
