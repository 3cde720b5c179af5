#include "base/process/sandbox_filter.h"

#include <asm/sockios.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace solstice {
namespace {

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// Ways out of the process, into others, or into the kernel's administration. io_uring is among them because its
// operations bypass the filter.
constexpr const char* kAlwaysDenied[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "fsopen",
    "fsmount",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "open_by_handle_at",
    "add_key",
    "request_key",
    "keyctl",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
    "iopl",
    "ioperm",
    "syslog",
    "vhangup",
    "mknod",
    "mknodat",
};
// A socket that can neither connect nor send to an address reaches nobody; the CUDA driver will not start without one.
constexpr const char* kReachingOut[] = {"connect", "accept", "accept4", "sendmsg", "sendmmsg"};
constexpr const char* kExec[] = {"execve", "execveat"};
// A process without children has nobody to signal; one with children must be able to end them, and Landlock keeps
// its signals from everybody else.
constexpr const char* kProcesses[] = {
    "fork", "vfork", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"};

// Stands for the process that will enter the sandbox; no process number is that large.
constexpr uint32_t kOwnProcess = 0x7ac3d1e5;

int deny(const Filter& filter, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return 0;  // unknown to this library: the kernel's newest calls
  return seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), number, 0);
}

template <size_t N>
int deny_all(const Filter& filter, const char* const (&names)[N]) {
  for (const char* name : names) {
    if (const int error = deny(filter, name)) return error;
  }
  return 0;
}

// A comparison of one system call argument; libseccomp's own macros are C.
scmp_arg_cmp argument(unsigned index, scmp_compare op, uint64_t a, uint64_t b = 0) {
  scmp_arg_cmp comparison{};
  comparison.arg = index;
  comparison.op = op;
  comparison.datum_a = a;
  comparison.datum_b = b;
  return comparison;
}

int refuse_where(const Filter& filter, uint32_t action, int call, scmp_arg_cmp comparison) {
  return seccomp_rule_add_array(filter.get(), action, call, 1, &comparison);
}

// clone with namespace flags (and, where processes are forbidden, without CLONE_THREAD). A filter cannot look into
// clone3's struct; ENOSYS makes libc fall back to clone.
int deny_clone(const Filter& filter, bool allow_processes) {
  constexpr uint64_t kNamespaces =
      CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
  for (uint64_t bit = 1; bit <= kNamespaces; bit <<= 1) {
    if ((bit & kNamespaces) == 0) continue;
    const int error =
        refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), argument(0, SCMP_CMP_MASKED_EQ, bit, bit));
    if (error) return error;
  }
  if (!allow_processes) {
    const int error = refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone),
                                   argument(0, SCMP_CMP_MASKED_EQ, uint64_t{CLONE_THREAD}, uint64_t{0}));
    if (error) return error;
  }
  return seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

int deny_network(const Filter& filter, bool allow_idle_sockets) {
  if (const int error = deny_all(filter, kReachingOut)) return error;
  if (!allow_idle_sockets) return deny(filter, "socket");
  const int error =
      refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sendto), argument(4, SCMP_CMP_NE, uint64_t{0}));
  if (error) return error;
  return refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), argument(0, SCMP_CMP_NE, uint64_t{AF_UNIX}));
}

// The kernel itself signals whoever owns a descriptor, also another process. The commands are ints: what the upper half
// of the register holds does not count.
int deny_descriptor_owners(const Filter& filter) {
  const auto command = [](int value) {
    return argument(1, SCMP_CMP_MASKED_EQ, uint64_t{0xffffffff}, static_cast<uint64_t>(value));
  };
  for (const int value : {F_SETOWN, F_SETOWN_EX}) {
    if (const int error = refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), command(value))) return error;
  }
  for (const int value : {FIOSETOWN, SIOCSPGRP}) {
    if (const int error = refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), command(value))) return error;
  }
  return 0;
}

// abort() and pthread_kill() signal their own process with it.
int deny_foreign_threads(const Filter& filter) {
  return refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), argument(0, SCMP_CMP_NE, uint64_t{kOwnProcess}));
}

// Limits of another process.
int deny_foreign_limits(const Filter& filter) {
  return refuse_where(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), argument(0, SCMP_CMP_NE, uint64_t{0}));
}

int add_rules(const Filter& filter, const SandboxPolicy& policy) {
  if (const int error = deny_all(filter, kAlwaysDenied)) return error;
  if (const int error = deny_foreign_limits(filter)) return error;
  if (const int error = deny_descriptor_owners(filter)) return error;
  if (const int error = deny_clone(filter, policy.allow_processes)) return error;
  if (!policy.allow_network) {
    if (const int error = deny_network(filter, policy.allow_idle_sockets)) return error;
  }
  if (!policy.allow_exec) {
    if (const int error = deny_all(filter, kExec)) return error;
  }
  if (policy.allow_processes) return 0;
  if (const int error = deny_foreign_threads(filter)) return error;
  return deny_all(filter, kProcesses);
}

Error refused(const char* what, int error) {
  return fail(Code::sandbox, fmt::format("libseccomp cannot {}: {}", what, std::strerror(error)));
}

Result<std::vector<uint64_t>> exported(const Filter& filter) {
  const int fd = ::memfd_create("filter", MFD_CLOEXEC);
  if (fd < 0) return refused("hold its program", errno);
  std::vector<uint64_t> program;
  const int error = seccomp_export_bpf(filter.get(), fd);
  const off_t size = ::lseek(fd, 0, SEEK_END);
  bool whole = false;
  if (error == 0 && size > 0) {
    program.resize(static_cast<size_t>(size) / sizeof(uint64_t));
    whole = ::pread(fd, program.data(), static_cast<size_t>(size), 0) == size;
  }
  ::close(fd);
  if (!whole) return refused("export its program", error ? -error : EIO);
  return program;
}

}  // namespace

void name_own_process(std::vector<uint64_t>& program, pid_t process) noexcept {
  for (uint64_t& word : program) {
    sock_filter instruction;
    std::memcpy(&instruction, &word, sizeof word);
    if (BPF_CLASS(instruction.code) != BPF_JMP || instruction.k != kOwnProcess) continue;
    instruction.k = static_cast<uint32_t>(process);
    std::memcpy(&word, &instruction, sizeof word);
  }
}

Result<std::vector<uint64_t>> sandbox_filter(const SandboxPolicy& policy) {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), [](scmp_filter_ctx c) { seccomp_release(c); });
  if (!filter) return refused("start", ENOMEM);
  if (const int error = add_rules(filter, policy)) return refused("build its program", -error);
  return exported(filter);
}

}  // namespace solstice
