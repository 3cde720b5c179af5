// Findings of a measurement in words: the time of each kernel, what the cost models say of it, how much
// of the machine it uses, what its family chose, what the compiler reported that deserves attention.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"
#include "record/search_event.h"

namespace solstice::agents {

// Findings on kernels compiled for `machine`: one line each, in the order of the kernels' record. With `sol` also the
// cost models' predictions and the shares of the machine's ceilings; without it, only measured and reported values.
std::vector<std::string> findings_of(const search::Measurement& measurement, const machine::Machine& machine, bool sol);

// Counters as they are: resources of the kernels and samples of the time, as JSON.
std::string raw_counters(const search::Measurement& measurement);

}  // namespace solstice::agents
