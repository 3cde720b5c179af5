// Findings of a measurement in words: the time of each kernel, what the cost models say of it, how much
// of the machine it uses, what its family chose, what the compiler reported that deserves attention.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"
#include "record/search_event.h"

namespace solstice::agents {

// Of kernels that were compiled for `machine`: a line each, the kernels in the order of their record. `sol`: also what
// the cost models expect, and the shares of what the machine gives; without it, what was measured and reported alone.
std::vector<std::string> findings_of(const search::Measurement& measurement, const machine::Machine& machine, bool sol);

// Counters as they are: resources of the kernels and samples of the time, as JSON.
std::string raw_counters(const search::Measurement& measurement);

}  // namespace solstice::agents
