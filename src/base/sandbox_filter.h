// The seccomp program of a sandbox policy: a deny list, since compilers and the CUDA driver use hundreds of calls.
// Denied calls answer EPERM, so that programs report what they could not do.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/sandbox.h"

namespace solstice {

// BPF instructions, 8 bytes each. Error `sandbox`.
Result<std::vector<uint64_t>> sandbox_filter(const SandboxPolicy& policy);

}  // namespace solstice
