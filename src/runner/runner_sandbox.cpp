#include "runner/runner_sandbox.h"

namespace solstice::runner {
namespace {

SandboxPolicy runner_policy() {
  SandboxPolicy out;
  out.devices = nvidia_device_patterns();
  out.writable = {"/proc/self"};  // the driver names its threads there
  out.allow_idle_sockets = true;
  out.allow_exec = false;
  out.allow_processes = false;
  out.limits.core_size = 0;
  return out;
}

}  // namespace

Result<SandboxReport> enter_runner_sandbox(const std::string& profile) {
  SandboxPolicy policy = runner_policy();
  if (profile.empty()) return enter_sandbox(policy);
  policy.allow_network = true;
  policy.writable.emplace_back(profile);
  SOLSTICE_TRY(SandboxReport report, enter_sandbox(policy));
  report.parts.push_back({"profile", false, "lifted for counters: sockets, and files below " + profile});
  return report;
}

}  // namespace solstice::runner
