// The judge's end of the protocol against a runner that lies.
#include "run/runner_process.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace solstice::run
