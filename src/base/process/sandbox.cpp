#include "base/process/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/process/sandbox_filter.h"

namespace solstice {
namespace {

// The kernel's ABI, spelled out because the build machine's headers may be older than the running kernel.
constexpr uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2, kReadFolder = 1u << 3;
constexpr uint64_t kAccessV1 = (1u << 13) - 1, kRefer = 1u << 13, kTruncate = 1u << 14, kIoctl = 1u << 15;
constexpr uint64_t kTcp = 3;                                        // bind | connect
constexpr uint64_t kAbstractSockets = 1u << 0, kSignals = 1u << 1;  // scopes

struct RulesetAttributes {
  uint64_t files = 0;
  uint64_t net = 0;
  uint64_t scoped = 0;
};

struct PathRule {
  uint64_t access;
  int32_t parent;
} __attribute__((packed));

uint64_t file_rights(int abi) {
  return kAccessV1 | (abi >= 2 ? kRefer : 0) | (abi >= 3 ? kTruncate : 0) | (abi >= 5 ? kIoctl : 0);
}

constexpr uint64_t kOnFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;

Status add_path(int ruleset, const std::filesystem::path& path, uint64_t access) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return success();
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) {
    return fail(Code::sandbox, fmt::format("cannot open {} for the sandbox: {}", path.string(), std::strerror(errno)));
  }
  const PathRule rule{S_ISDIR(info.st_mode) ? access : access & kOnFiles, fd};
  const long added = ::syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0);
  const int error = errno;
  ::close(fd);
  if (added == 0) return success();
  return fail(Code::sandbox, fmt::format("Landlock refused a rule for {}: {}", path.string(), std::strerror(error)));
}

Status add_devices(int ruleset, const std::string& pattern, uint64_t access) {
  glob_t found{};
  Status added = success();
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && added.ok(); ++i) added = add_path(ruleset, found.gl_pathv[i], access);
  }
  ::globfree(&found);
  return added;
}

Status add_rules(int ruleset, const SandboxPolicy& policy, int abi) {
  const uint64_t all = file_rights(abi);
  for (const auto& path : policy.readable) SOLSTICE_CHECK(add_path(ruleset, path, kExecute | kReadFile | kReadFolder));
  for (const auto& path : policy.writable) SOLSTICE_CHECK(add_path(ruleset, path, all));
  const uint64_t device = kReadFile | kReadFolder | kWriteFile | (all & (kIoctl | kTruncate));
  for (const auto& pattern : policy.devices) SOLSTICE_CHECK(add_devices(ruleset, pattern, device));
  return add_path(ruleset, "/dev/null", kReadFile | kWriteFile);
}

uint64_t scopes(const SandboxPolicy& policy) { return kSignals | (policy.allow_network ? 0 : kAbstractSockets); }

Result<int> make_ruleset(const SandboxPolicy& policy, int abi) {
  RulesetAttributes wanted{file_rights(abi), abi >= 4 && !policy.allow_network ? kTcp : 0,
                           abi >= 6 ? scopes(policy) : 0};
  const size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &wanted, size, 0));
  if (ruleset < 0) return fail(Code::sandbox, fmt::format("Landlock refused the rule set: {}", std::strerror(errno)));
  Status added = add_rules(ruleset, policy, abi);
  if (added.ok()) return ruleset;
  ::close(ruleset);
  return std::move(added).error();
}

std::vector<std::pair<int, uint64_t>> limit_list(const ResourceLimits& limits) {
  std::vector<std::pair<int, uint64_t>> out;
  const auto add = [&](int resource, const std::optional<uint64_t>& value) {
    if (value) out.emplace_back(resource, *value);
  };
  add(RLIMIT_AS, limits.address_space);
  add(RLIMIT_FSIZE, limits.file_size);
  add(RLIMIT_NOFILE, limits.open_files);
  add(RLIMIT_CPU, limits.cpu_seconds);
  add(RLIMIT_CORE, limits.core_size);
  return out;
}

}  // namespace

std::vector<std::string> nvidia_device_patterns() {
  return {"/dev/nvidia*", "/dev/nvidia-caps", "/dev/nvidia-caps/*", "/proc/driver/nvidia"};
}

int landlock_abi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

Result<PreparedSandbox> PreparedSandbox::prepare(const SandboxPolicy& policy) {
  PreparedSandbox out;
  out.landlock_abi_ = solstice::landlock_abi();
  if (out.landlock_abi_ > 0) {
    SOLSTICE_TRY(out.ruleset_, make_ruleset(policy, out.landlock_abi_));
  }
  SOLSTICE_TRY(out.filter_, sandbox_filter(policy));
  out.limits_ = limit_list(policy.limits);
  out.allow_processes_ = policy.allow_processes;
  return out;
}

PreparedSandbox::PreparedSandbox(PreparedSandbox&& other) noexcept
    : ruleset_(other.ruleset_),
      landlock_abi_(other.landlock_abi_),
      allow_processes_(other.allow_processes_),
      filter_(std::move(other.filter_)),
      limits_(std::move(other.limits_)) {
  other.ruleset_ = -1;
}

PreparedSandbox::~PreparedSandbox() {
  if (ruleset_ >= 0) ::close(ruleset_);
}

PreparedSandbox::Outcome PreparedSandbox::apply() const noexcept {
  Outcome out;
  for (const auto& [resource, value] : limits_) {
    const rlimit limit{value, value};
    if (::setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) out.limits = errno;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) out.no_new_privileges = errno;
  if (ruleset_ < 0) {
    out.landlock = ENOSYS;
  } else if (::syscall(SYS_landlock_restrict_self, ruleset_, 0) != 0) {
    out.landlock = errno;
  }
  // The filter comes last: it may forbid what was needed above.
  name_own_process(filter_, ::getpid());
  sock_fprog program{static_cast<unsigned short>(filter_.size()),
                     const_cast<sock_filter*>(reinterpret_cast<const sock_filter*>(filter_.data()))};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) out.seccomp = errno;
  return out;
}

SandboxReport PreparedSandbox::report(const Outcome& outcome) const {
  const auto why = [](int error) { return std::string(std::strerror(error)); };
  const bool landlock = outcome.landlock == 0;
  SandboxReport out;
  out.parts.push_back({"privileges", outcome.no_new_privileges == 0,
                       outcome.no_new_privileges ? why(outcome.no_new_privileges) : "cannot be gained"});
  const std::string no_landlock = landlock_abi_ == 0 ? "this kernel offers no Landlock" : why(outcome.landlock);
  out.parts.push_back({"files", landlock, landlock ? fmt::format("Landlock ABI {}", landlock_abi_) : no_landlock});
  const bool scoped = landlock && landlock_abi_ >= 6;
  const bool filtered = !allow_processes_ && outcome.seccomp == 0;
  out.parts.push_back({"signals", scoped || filtered,
                       scoped     ? "Landlock: not to processes outside"
                       : filtered ? "seccomp: none may be sent"
                       : landlock ? fmt::format("Landlock ABI {} has no scopes (6 has)", landlock_abi_)
                                  : no_landlock});
  out.parts.push_back({"system calls", outcome.seccomp == 0, outcome.seccomp ? why(outcome.seccomp) : "seccomp"});
  out.parts.push_back({"limits", outcome.limits == 0, outcome.limits ? why(outcome.limits) : "rlimits"});
  return out;
}

bool SandboxReport::complete() const {
  for (const SandboxPart& part : parts) {
    if (!part.enforced) return false;
  }
  return !parts.empty();
}

std::string SandboxReport::text() const {
  std::string out;
  for (const SandboxPart& part : parts) {
    out += fmt::format("{}{}: {} ({})", out.empty() ? "" : "; ", part.name, part.enforced ? "enforced" : "MISSING",
                       part.detail);
  }
  return out.empty() ? "no sandbox" : out;
}

Json SandboxReport::json() const {
  Json out = Json::array();
  for (const SandboxPart& part : parts) {
    out.push(Json::object().set("name", part.name).set("enforced", part.enforced).set("detail", part.detail));
  }
  return out;
}

Result<SandboxReport> enter_sandbox(const SandboxPolicy& policy) {
  SOLSTICE_TRY(const PreparedSandbox prepared, PreparedSandbox::prepare(policy));
  return prepared.report(prepared.apply());
}

Status require_all(const SandboxReport& report) {
  if (report.complete()) return success();
  return fail(Code::sandbox, "the sandbox is incomplete: " + report.text());
}

}  // namespace solstice
