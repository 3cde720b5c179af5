// A measurement in words for a prompt: the time of each kernel, how much of the machine it uses, what its family chose,
// the gravest findings of its diagnosis, notes of the compiler.
#pragma once

#include <string>
#include <vector>

#include "record/search_event.h"

namespace solstice::agents {

// One line each; at most five findings, each with its cause, its bound and what may be tried, and never a bare counter.
// With `sol` also the cost models' predictions, the shares of the machine's ceilings and the bounds of gains.
std::vector<std::string> findings_of(const search::Measurement& measurement, bool sol);

// Counters as they are, each line JSON: resources of the kernels and samples of the time; where the trial was profiled,
// a line for each launch with the hardware's counters.
std::vector<std::string> raw_counters(const search::Measurement& measurement);

}  // namespace solstice::agents
