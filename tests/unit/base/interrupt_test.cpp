#include "base/process/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/clock.h"
#include "base/file.h"
#include "base/process/subprocess.h"

namespace solstice {
namespace {

// Whether the process is gone, or only waits to be reaped by whoever adopted it.
bool is_over(pid_t pid) {
  const Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return !stat.ok() || stat->find(") Z ") != std::string::npos;
}

bool is_over_soon(pid_t pid) {
  for (const Deadline deadline(Seconds(10)); !deadline.passed(); ::usleep(10000)) {
    if (is_over(pid)) return true;
  }
  return false;
}

// Runs `body` in a process of its own, which tells of the child it spawned; how that process ended.
int in_process(const SpawnOptions& options, const std::function<void()>& body, pid_t& child) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    Result<Subprocess> spawned = Subprocess::spawn(options);
    const pid_t told = spawned.ok() ? spawned->pid() : -1;
    if (::write(ends[1], &told, sizeof told) != sizeof told) ::_exit(2);
    body();
    ::_exit(3);
  }
  EXPECT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  ::close(ends[0]);
  ::close(ends[1]);
  return status;
}

TEST(Interrupt, ASecondSignalEndsTheChildrenToo) {
  for (const int second : {SIGINT, SIGTERM}) {
    pid_t child = -1;
    const auto twice = [second] {
      catch_interrupts();
      ::raise(SIGINT);
      if (!interrupted()) ::_exit(4);
      ::raise(second);
    };
    const int status = in_process({.argv = {"sh", "-c", "sleep 600"}}, twice, child);
    ASSERT_GT(child, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == second) << status;
    EXPECT_TRUE(is_over_soon(child));
  }
}

TEST(Subprocess, EndsWithItsThreadWhereAsked) {
  pid_t child = -1;
  const SpawnOptions options{.argv = {"sh", "-c", "while true; do :; done"}, .ends_with_thread = true};
  const int status = in_process(
      options, [] { ::raise(SIGKILL); }, child);
  ASSERT_GT(child, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(is_over_soon(child));
}

}  // namespace
}  // namespace solstice
