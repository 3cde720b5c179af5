// The seccomp program of a sandbox policy: a deny list, since compilers and the CUDA driver use hundreds of calls.
// Denied calls answer EPERM, so that programs report what they could not do.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/process/sandbox_policy.h"
#include "base/result.h"

namespace solstice {

// BPF instructions, 8 bytes each. It is made before the process that enters the sandbox exists: name_own_process() has
// to be told. Error `sandbox`.
Result<std::vector<uint64_t>> sandbox_filter(const SandboxPolicy& policy);

// If processes are forbidden, a thread may be signalled only if it is this process's. Neither allocates nor fails,
// so that it can run between fork and exec.
void name_own_process(std::vector<uint64_t>& program, pid_t process) noexcept;

}  // namespace solstice
