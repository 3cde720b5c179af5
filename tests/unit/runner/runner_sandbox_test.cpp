// The runner's sandbox with and without the profile for counters.
#include "runner/runner_sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/file.h"

namespace solstice::runner {
namespace {

// What `body` returns in a child process that has entered the sandbox; 100 where entering failed.
int within(const std::string& profile, const std::function<int(const SandboxReport&)>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    const auto report = enter_runner_sandbox(profile);
    _exit(report.ok() ? body(*report) : 100);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

bool opens_a_socket() { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }
bool creates(const std::filesystem::path& file) { return open(file.c_str(), O_WRONLY | O_CREAT, 0600) >= 0; }

TEST(RunnerSandbox, LiftsNothingWithoutAProfile) {
  EXPECT_EQ(within("",
                   [](const SandboxReport& report) {
                     for (const SandboxPart& part : report.parts) {
                       if (part.name == "profile") return 1;
                     }
                     return opens_a_socket() ? 2 : 0;
                   }),
            0);
}

TEST(RunnerSandbox, ProfileLiftsSocketsAndOneFolderAndSaysSo) {
  const TempFolder folder = std::move(TempFolder::create("runner-sandbox-")).value();
  const auto shared = folder.path() / "shared";
  ASSERT_TRUE(make_folder(shared).ok());
  const bool files = landlock_abi() > 0;
  EXPECT_EQ(within(shared.string(),
                   [&](const SandboxReport& report) {
                     const SandboxPart& last = report.parts.back();
                     if (last.name != "profile" || last.enforced || report.complete()) return 1;
                     if (last.detail.find(shared.string()) == std::string::npos) return 2;
                     if (!opens_a_socket()) return 3;
                     if (!creates(shared / "lock")) return 4;
                     if (files && creates(folder.path() / "report")) return 5;
                     return fork() >= 0 ? 6 : 0;  // and nothing else
                   }),
            0);
}

}  // namespace
}  // namespace solstice::runner
