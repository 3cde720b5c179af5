#include "base/process/sandbox.h"

#include <asm/sockios.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/process/subprocess.h"

namespace solstice {
namespace {

// What `body` returns after a child process has entered the sandbox; 100 where entering failed.
int inside(const SandboxPolicy& policy, const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    const auto report = enter_sandbox(policy);
    _exit(report.ok() ? body() : 100);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

bool files_are_enforced() { return landlock_abi() > 0; }

TEST(Sandbox, ReportNamesEveryPart) {
  auto child = Subprocess::spawn({.argv = {"true"}, .sandbox = SandboxPolicy{}});
  ASSERT_TRUE(child.ok()) << child.error().text();
  const SandboxReport& report = child->sandbox();
  EXPECT_EQ(report.parts.size(), 5u);
  for (const SandboxPart& part : report.parts) {
    if (part.name == "files") {
      EXPECT_EQ(part.enforced, files_are_enforced());
    }
    if (part.name == "system calls") {
      EXPECT_TRUE(part.enforced) << part.detail;
    }
    EXPECT_FALSE(part.detail.empty());
  }
  EXPECT_EQ(require_all(report).ok(), report.complete());
}

TEST(Sandbox, ReportWithAMissingPartIsRefused) {
  SandboxReport report;
  EXPECT_FALSE(report.complete());
  report.parts = {{"files", true, "x"}, {"signals", false, "old kernel"}};
  const Status status = require_all(report);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::sandbox);
  EXPECT_NE(status.error().message.find("old kernel"), std::string::npos);
}

TEST(Sandbox, WritesOnlyWhereAllowed) {
  if (!files_are_enforced()) GTEST_SKIP() << "this kernel offers no Landlock";
  auto folder = TempFolder::create("sandbox");
  ASSERT_TRUE(folder.ok());
  const auto ours = folder->path() / "ours", theirs = folder->path() / "theirs";
  ASSERT_TRUE(make_folder(ours).ok());
  ASSERT_TRUE(make_folder(theirs).ok());
  SandboxPolicy policy;
  policy.writable = {theirs};
  EXPECT_EQ(inside(policy, [&] { return open((theirs / "f").c_str(), O_WRONLY | O_CREAT, 0600) >= 0 ? 0 : 1; }), 0);
  EXPECT_EQ(inside(policy, [&] { return open((ours / "f").c_str(), O_WRONLY | O_CREAT, 0600) >= 0 ? 1 : 0; }), 0);
  EXPECT_EQ(inside(policy, [&] { return unlink((theirs / "f").c_str()); }), 0);
}

TEST(Sandbox, ReadsOnlyWhereAllowed) {
  if (!files_are_enforced()) GTEST_SKIP() << "this kernel offers no Landlock";
  SandboxPolicy policy;
  policy.readable = {"/usr"};
  EXPECT_EQ(inside(policy, [] { return open("/etc/passwd", O_RDONLY) >= 0 ? 1 : 0; }), 0);
}

TEST(Sandbox, NoNetwork) {
  EXPECT_EQ(inside({}, [] { return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 1 : errno == EPERM ? 0 : 2; }), 0);
  EXPECT_EQ(inside({}, [] { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 1 : errno == EPERM ? 0 : 2; }), 0);
  SandboxPolicy policy;
  policy.allow_network = true;
  EXPECT_EQ(inside(policy, [] { return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : 1; }), 0);
}

// Abstract names, which no permission of a file guards, are Landlock's own matter.
TEST(Sandbox, NetworkReachesAbstractSocketsOfOthers) {
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const std::string name = std::string(1, '\0') + "solstice-sandbox-test-" + std::to_string(getpid());
  std::copy(name.begin(), name.end(), at.sun_path);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  const auto connects = [&] {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, reinterpret_cast<sockaddr*>(&at), size) == 0 ? 0 : 1;
  };
  SandboxPolicy policy;
  EXPECT_EQ(inside(policy, connects), 1);
  policy.allow_network = true;
  EXPECT_EQ(inside(policy, connects), 0);
  close(listening);
}

TEST(Sandbox, IdleSocketsReachNobody) {
  SandboxPolicy policy;
  policy.allow_idle_sockets = true;
  EXPECT_EQ(inside(policy, [] { return socket(AF_INET, SOCK_DGRAM, 0) >= 0 ? 1 : 0; }), 0);
  EXPECT_EQ(inside(policy,
                   [] {
                     const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
                     sockaddr_un to{};
                     to.sun_family = AF_UNIX;
                     if (fd < 0) return 1;
                     if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 || errno != EPERM) return 2;
                     if (sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to) >= 0 || errno != EPERM)
                       return 3;
                     msghdr message{};
                     return sendmsg(fd, &message, 0) >= 0 || errno != EPERM ? 4 : 0;
                   }),
            0);
}

TEST(Sandbox, NoPtraceAndNoSignalToTheParent) {
  const pid_t self = getpid();
  EXPECT_EQ(inside({}, [=] { return ptrace(PTRACE_SEIZE, self, nullptr, nullptr) == 0 ? 1 : 0; }), 0);
  SandboxPolicy alone;
  alone.allow_processes = false;
  EXPECT_EQ(inside(alone, [=] { return ::kill(self, 0) == 0 ? 1 : 0; }), 0);
  if (landlock_abi() >= 6) {
    EXPECT_EQ(inside({}, [=] { return ::kill(self, 0) == 0 ? 1 : 0; }), 0);
  }
}

TEST(Sandbox, SignalsThreadsOfItsOwnProcessAlone) {
  SandboxPolicy alone;
  alone.allow_processes = false;
  const pid_t parent = getpid();
  EXPECT_EQ(inside(alone, [=] { return syscall(SYS_tgkill, parent, parent, 0) == 0 ? 1 : errno == EPERM ? 0 : 2; }), 0);
  EXPECT_EQ(inside(alone, [] { return syscall(SYS_tgkill, getpid(), getpid(), 0) == 0 ? 0 : 1; }), 0);
  // An upper half of the register that the kernel ignores does not hide the target.
  EXPECT_EQ(inside(alone, [=] { return syscall(SYS_tgkill, parent | (1L << 32), parent, 0) == 0 ? 1 : 0; }), 0);
}

TEST(Sandbox, DescriptorsSignalNobody) {
  const pid_t parent = getpid();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto refused = [](long result) { return result < 0 && errno == EPERM; };
  EXPECT_EQ(inside({},
                   [&] {
                     f_owner_ex owner{F_OWNER_PID, parent};
                     if (!refused(fcntl(ends[0], F_SETOWN, parent))) return 1;
                     if (!refused(fcntl(ends[0], F_SETOWN_EX, &owner))) return 2;
                     if (!refused(syscall(SYS_fcntl, ends[0], F_SETOWN | (1L << 32), parent))) return 3;
                     if (!refused(ioctl(ends[0], FIOSETOWN, &parent))) return 4;
                     return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : 5;
                   }),
            0);
  close(ends[0]);
  close(ends[1]);
}

TEST(Sandbox, NoProcessesButThreads) {
  SandboxPolicy policy;
  policy.allow_processes = false;
  EXPECT_EQ(inside(policy, [] { return fork() < 0 && errno == EPERM ? 0 : 1; }), 0);
  EXPECT_EQ(inside(policy,
                   [] {
                     int value = 1;
                     std::thread([&] { value = 0; }).join();
                     return value;
                   }),
            0);
}

TEST(Sandbox, NoExecWhenAsked) {
  SandboxPolicy policy;
  policy.allow_exec = false;
  EXPECT_EQ(inside(policy,
                   [] {
                     execl("/bin/true", "true", nullptr);
                     return errno == EPERM ? 7 : 1;
                   }),
            7);
  EXPECT_FALSE(Subprocess::spawn({.argv = {"true"}, .sandbox = policy}).ok());
}

TEST(Sandbox, Limits) {
  SandboxPolicy policy;
  policy.limits.open_files = 20;
  policy.limits.core_size = 0;
  EXPECT_EQ(inside(policy,
                   [] {
                     rlimit limit{};
                     getrlimit(RLIMIT_NOFILE, &limit);
                     return limit.rlim_max == 20 ? 0 : 1;
                   }),
            0);
}

TEST(Sandbox, ChildrenInheritItAndCanEndTheirOwnChildren) {
  auto out = run_command(
      {.argv = {"sh", "-c",
                "touch /tmp/solstice-escape 2>/dev/null && echo escaped; sleep 50 & kill $! && wait; echo done"},
       .sandbox = SandboxPolicy{}},
      Seconds(20));
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->out, files_are_enforced() ? "done\n" : "escaped\ndone\n");
}

TEST(Sandbox, MemoryLimitHoldsInTheChild) {
  SandboxPolicy policy;
  policy.limits.address_space = 256u << 20;
  auto sort =
      run_command({.argv = {"sh", "-c", "head -c 600M /dev/zero | tail -n 1 | wc -c"}, .sandbox = policy}, Seconds(20));
  ASSERT_TRUE(sort.ok()) << sort.error().text();
  EXPECT_NE(sort->out, "629145600\n");
}

}  // namespace
}  // namespace solstice
