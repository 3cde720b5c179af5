// Time by kernel of a program, from a trace of its plan.
#pragma once

#include "record/kernel_trace.h"
#include "record/plan.h"
#include "run/judge.h"

namespace solstice::evaluate {

// Launches, memsets and copies of a call.
int steps_of_call(const Plan& plan);

// `traced`: a block of Tracer::kCupti that passed. `costs`: the list of that name in Preparation::record(). Error
// candidate_failed, saying what differs, where what ran is not what the plan says.
Result<KernelTrace> by_kernel(const Plan& plan, const run::TimedBlock& traced, const Json& costs);

// The step of each activity of a traced block. Error candidate_failed, saying what differs, where what ran is not what
// the plan says.
Result<std::vector<const Step*>> steps_that_ran(const Plan& plan, const run::TimedBlock& traced);

// A traced block failed although the candidate passed before: the trace is to blame, where it says nothing of results.
bool only_tracing_failed(const Verdict& verdict);

}  // namespace solstice::evaluate
