// First stage: the Python process, and the place where candidates run.
#pragma once

#include <future>

#include "flow/run/gpu/gpu_side.h"
#include "flow/run/state/run.h"
#include "machine/machine.h"

namespace solstice::flow {

struct Opened {
  bool gpu = false;
  machine::Machine machine;
  std::future<Result<GpuSide>> gpu_side = {};  // starting; open_compiler() takes it
};

// Of a program there is no Python process. Errors: those of starting Python; no_gpu where one is asked for; not_found,
// bad_machine of the machine description.
Result<Opened> open_place(Run& run);

// Until a candidate is usable there is nothing to finish with: Ctrl-C ends Python's work.
void stop_on_interrupt(Run& run);

// The request for the judge of GPU `ordinal` under the options of this run.
GpuSideRequest side_request(const Run& run, int ordinal);
// The engine's judge was started by such a request.
bool judge_fits(const EngineParts& engine, const GpuSideRequest& wanted);

}  // namespace solstice::flow
