// Speed-of-light analysis of a program on a machine.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/program.h"
#include "machine/machine.h"
#include "sol/options.h"
#include "sol/report.h"

namespace solstice::sol {

// Schedules, if the program has any, are ignored: it is the bound of what is computed. Errors: bad_argument where the
// machine lacks a pipe that a dtype of the program needs.
Result<SolReport> analyse(const ir::Program& program, const machine::Machine& machine, const SolOptions& options = {});

enum class Cache { kCold, kWarm };
// The fault of a time below io, which voids the trial; "" where it is possible. Cold: L2 was flushed before the
// run.
std::string violation(const SolReport& report, Seconds measured, Cache cache = Cache::kCold);

}  // namespace solstice::sol
