// The compiler of candidates and, on a GPU, the judge.
#pragma once

#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// Fills the engine's compiler, judge and further GPUs, as far as they are not there. NVRTC is needed on a GPU; the
// model device works without it and says so. Errors: those of start_gpu_side().
Status open_compiler(Run& run, Opened& opened);

}  // namespace solstice::flow
