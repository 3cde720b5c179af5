// The judge's end of the protocol against a runner that lies.
#include "run/runner_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "run/candidate_run.h"

namespace solstice::run {
namespace {

class LyingRunner : public ::testing::Test {
 protected:
  // Answers every request with this error.
  RunnerProcess runner_with(const std::string& code) {
    const auto program = folder_.path() / ("runner-" + code);
    const std::string reply = R"({\"id\":$n,\"error\":{\"code\":\")" + code + R"(\",\"message\":\"so it says\"}})";
    EXPECT_TRUE(
        write_file(program, "#!/bin/sh\nn=0\nwhile read -r line; do n=$((n+1)); echo \"" + reply + "\"; done\n").ok());
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    RunnerOptions options;
    options.program = program;
    return std::move(RunnerProcess::spawn(options)).value();
  }
  TempFolder folder_ = std::move(TempFolder::create("lying-runner-")).value();
};

TEST_F(LyingRunner, AnErrorThatIsNoCandidatesIsACrashOfIt) {
  for (const char* code : {"disk_full", "no_gpu", "no_driver", "interrupted", "internal", "no_such_code"}) {
    RunnerProcess runner = runner_with(code);
    const auto loaded = runner.load({"plan.json", 1, 0});
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().code, Code::process_failed) << code;
    EXPECT_NE(loaded.error().message.find(code), std::string::npos) << loaded.error().message;
    EXPECT_EQ(finding_of(loaded.error(), true)->outcome, Outcome::kCrashed);
    EXPECT_EQ(runner.run({0, Seconds(5)}).error().code, Code::process_failed) << code;
  }
}

TEST_F(LyingRunner, AnErrorOfACandidateStaysWhatItIs) {
  RunnerProcess runner = runner_with("too_large");
  EXPECT_EQ(runner.load({"plan.json", 1, 0}).error().code, Code::too_large);
}

TEST_F(LyingRunner, BeforeACandidateIsLoadedTheMachineMayLackSomething) {
  RunnerProcess runner = runner_with("no_gpu");
  EXPECT_EQ(runner.hello().error().code, Code::no_gpu);
}

// A profiler of this kind: a program that starts the rest of its command line.
TEST(ProfiledRunner, IsStartedByItsProfilerInTheProfileForIt) {
  TempFolder folder = std::move(TempFolder::create("profiled-runner-")).value();
  const auto runner = folder.path() / "runner", seen = folder.path() / "seen";
  ASSERT_TRUE(write_file(runner, "#!/bin/sh\necho \"$TMPDIR $*\" > '" + seen.string() +
                                     "'\nwhile read -r line; do :; done\necho done >&2\nexit 5\n")
                  .ok());
  std::filesystem::permissions(runner, std::filesystem::perms::owner_all);
  RunnerOptions options;
  options.program = runner;
  options.profiler = Profiler{{"nice", "-n", "0"}, folder.path()};
  auto process = RunnerProcess::spawn(options);
  ASSERT_TRUE(process.ok()) << process.error().text();
  const auto end = process->finish(Seconds(20));
  ASSERT_TRUE(end.ok()) << end.error().text();
  EXPECT_EQ(end->exit.code, 5);
  EXPECT_EQ(end->said, "done\n");
  EXPECT_EQ(*read_file(seen), folder.path().string() + " --device 0 --profile " + folder.path().string() + "\n");
}

TEST(ProfiledRunner, ThatDoesNotEndIsEndedWithItsChildren) {
  TempFolder folder = std::move(TempFolder::create("profiled-runner-")).value();
  const auto runner = folder.path() / "runner", child = folder.path() / "child";
  ASSERT_TRUE(write_file(runner, "#!/bin/sh\nsetsid sleep 1000 < /dev/null > /dev/null 2>&1 &\necho $! > '" +
                                     child.string() + "'\nwait\n")
                  .ok());
  std::filesystem::permissions(runner, std::filesystem::perms::owner_all);
  RunnerOptions options;
  options.program = runner;
  auto process = RunnerProcess::spawn(options);
  ASSERT_TRUE(process.ok()) << process.error().text();
  for (int i = 0; i < 500 && !std::filesystem::exists(child); ++i) ::usleep(10000);
  const auto end = process->finish(Seconds(0.2));
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, Code::deadline);
  const pid_t pid = static_cast<pid_t>(std::stol(*read_file(child)));
  for (int i = 0; i < 500 && ::kill(pid, 0) == 0; ++i) ::usleep(10000);
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace solstice::run
