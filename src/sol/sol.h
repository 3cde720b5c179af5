// Speed-of-light analysis of a program on a machine.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program.h"
#include "machine/machine.h"
#include "numerics/policy.h"
#include "sol/report.h"

namespace solstice::sol {

struct SolOptions {
  numerics::Policy policy = numerics::Policy::kReference;
  bool frozen = false;       // weights may be prepared at load: io then counts no parameter
  bool matmul_tf32 = false;  // PyTorch's flags: what its own result is computed with
  bool conv_tf32 = true;
};

// Schedules, if the program has any, are ignored: it is the bound of what is computed. Errors: bad_argument where the
// machine lacks a pipe that a dtype of the program needs.
Result<SolReport> analyse(const ir::Program& program, const machine::Machine& machine, const SolOptions& options = {});

enum class Cache { kCold, kWarm };
// What is wrong with a time below io, which voids the trial; "" where it is possible. Cold: L2 was flushed before the
// run.
std::string violation(const SolReport& report, Seconds measured, Cache cache = Cache::kCold);

}  // namespace solstice::sol
