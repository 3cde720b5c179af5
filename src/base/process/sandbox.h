// Sandbox: limits of an untrusted process. Landlock limits files, TCP and signals; seccomp limits system calls;
// rlimits bound resources. Restrictions are inherited by children and can never be lifted again.
//
// A kernel may lack a part. Nothing is weakened silently: applying gives a SandboxReport with one line a part, and
// callers show it (`doctor`) or refuse to go on (`require_all`). Landlock covers the calling thread and what it
// starts later, so a process that sandboxes itself does so before it has threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/process/sandbox_policy.h"
#include "base/result.h"

namespace solstice {

// Device files that the CUDA driver opens.
std::vector<std::string> nvidia_device_patterns();

struct SandboxPart {
  std::string name;  // "privileges", "files", "signals", "system calls", "limits"
  bool enforced = false;
  std::string detail;  // the enforced parts, or the reason
};

struct SandboxReport {
  std::vector<SandboxPart> parts;
  bool complete() const;
  std::string text() const;  // one line
  Json json() const;
};

// Everything that needs memory or may fail is done by prepare(); apply() makes only system calls, so that it can
// run between fork and exec.
class PreparedSandbox {
 public:
  static Result<PreparedSandbox> prepare(const SandboxPolicy& policy);
  PreparedSandbox(PreparedSandbox&& other) noexcept;
  PreparedSandbox& operator=(PreparedSandbox&&) = delete;
  ~PreparedSandbox();

  // errno of each part, 0 where it was enforced or not asked for.
  struct Outcome {
    int no_new_privileges = 0;
    int landlock = 0;
    int seccomp = 0;
    int limits = 0;
  };
  Outcome apply() const noexcept;
  SandboxReport report(const Outcome& outcome) const;

 private:
  PreparedSandbox() = default;
  int ruleset_ = -1;
  int landlock_abi_ = 0;
  bool allow_processes_ = true;
  mutable std::vector<uint64_t> filter_;  // struct sock_filter, 8 bytes each; apply() writes its process into it
  std::vector<std::pair<int, uint64_t>> limits_;
};

// 0 where the kernel has no Landlock or it is switched off.
int landlock_abi();

// Sandboxes this process.
Result<SandboxReport> enter_sandbox(const SandboxPolicy& policy);

// Error `sandbox` naming the parts that are not enforced.
Status require_all(const SandboxReport& report);

}  // namespace solstice
