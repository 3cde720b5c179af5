// The program stopped while Python is at work on a file that never ends.
#include <signal.h>
#include <unistd.h>

#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

class InterruptTest : public ProgramTest {
 protected:
  void SetUp() override {
    const Result<std::filesystem::path> python = python_path();
    if (!python.ok()) GTEST_SKIP() << python.error().text();
    const auto torch = run_command({.argv = {python->string(), "-c", "import torch"}}, Seconds(120));
    if (!torch.ok() || !torch->exit.ok())
      GTEST_SKIP() << python->string() << " has no PyTorch; set SOLSTICE_PYTHON to one that has";
  }

  // `solstice optimize` of a file that says which process runs it, and loops. None where it never came so far.
  std::optional<Subprocess> start() {
    const auto told = folder_.path() / "pid", model = folder_.path() / "endless.py";
    const std::string text =
        "import os\nwith open('" + told.string() + "', 'w') as f: f.write(f'{os.getpid()}.')\nwhile True: pass\n";
    EXPECT_TRUE(write_file(model, text).ok());
    SpawnOptions options;
    options.argv = {companion("solstice")->string(), "optimize", model.string(), "--device", "model"};
    options.environment = {{"SOLSTICE_HOME", (folder_.path() / "home").string()},
                           {"SOLSTICE_CACHE", (folder_.path() / "cache").string()}};
    options.folder = folder_.path();
    options.out = Pipe::kNull;
    Result<Subprocess> program = Subprocess::spawn(options);
    EXPECT_TRUE(program.ok()) << program.error().text();
    for (const Deadline deadline(Seconds(120)); !deadline.passed(); ::usleep(20000)) {
      const Result<std::string> pid = read_file(told);
      if (!pid.ok() || pid->find('.') == std::string::npos) continue;
      worker_ = std::stoi(*pid);
      return std::move(program).value();
    }
    ADD_FAILURE() << "the file was never loaded: " << program->stderr_tail();
    return std::nullopt;
  }

  // Gone, or waiting for whoever adopted it.
  bool worker_ends() const {
    for (const Deadline deadline(Seconds(20)); !deadline.passed(); ::usleep(20000)) {
      const Result<std::string> stat = read_file("/proc/" + std::to_string(worker_) + "/stat");
      if (!stat.ok() || stat->find(") Z ") != std::string::npos) return true;
    }
    return false;
  }

  pid_t worker_ = -1;
};

TEST_F(InterruptTest, CtrlCEndsTheWaitForPython) {
  std::optional<Subprocess> program = start();
  ASSERT_TRUE(program.has_value());
  ::kill(program->pid(), SIGINT);
  const Result<ExitStatus> exit = program->wait(Deadline(Seconds(20)));
  ASSERT_TRUE(exit.ok()) << exit.error().text();
  EXPECT_EQ(exit->code, 130);
  EXPECT_NE(program->stderr_tail().find("error[interrupted]"), std::string::npos);
  EXPECT_TRUE(worker_ends());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs/endless/.fresh"));
}

TEST_F(InterruptTest, NothingOutlivesAKill) {
  std::optional<Subprocess> program = start();
  ASSERT_TRUE(program.has_value());
  ::kill(program->pid(), SIGKILL);
  EXPECT_TRUE(worker_ends());
}

}  // namespace
}  // namespace solstice::cli
