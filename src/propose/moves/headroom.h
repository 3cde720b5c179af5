// Headroom of a candidate: the time of each of its kernels above its speed of light. The expert tries
// schedules there first.
#pragma once

#include <vector>

#include "propose/formulation/formulation.h"
#include "search/tree.h"

namespace solstice::propose {

// Seconds of each axis' kernel that are not its equations' need of the machine (record/kernel_facts.h), but a tenth of
// its time at least: a need leaves out what a kernel cannot help. A kernel's time is what CUPTI traced, else its share
// of the candidate's by the cost models. Empty where that is not known: it is not measured yet, or its record is of an
// earlier Solstice.
std::vector<Seconds> headroom_of(const std::vector<Axis>& axes, const search::Node& candidate);

}  // namespace solstice::propose
