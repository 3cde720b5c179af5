// The runner's sandbox, and its profile for counters.
#pragma once

#include <string>

#include "base/process/sandbox.h"

namespace solstice::runner {

// Sandboxes this process, which has no other threads yet: device files of the GPU, no other writing, no network, no
// processes. With `profile`, a folder, a profiler can read counters: the library that it puts into this process talks
// to it through sockets, and keeps a lock and temporary files below the folder. The report then has the part `profile`,
// not enforced, which says so.
Result<SandboxReport> enter_runner_sandbox(const std::string& profile);

}  // namespace solstice::runner
