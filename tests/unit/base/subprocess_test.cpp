#include "base/process/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "base/file.h"

namespace solstice {
namespace {

Deadline soon() { return Deadline(Seconds(10)); }

TEST(Subprocess, LineChannelBothWays) {
  auto cat = Subprocess::spawn({.argv = {"cat"}});
  ASSERT_TRUE(cat.ok()) << cat.error().text();
  for (const std::string line : {"one", "", "three"}) {
    ASSERT_TRUE(cat->write_line(line, soon()).ok());
    auto answer = cat->read_line(soon());
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(*answer, line);
  }
  cat->close_input();
  auto exit = cat->wait(soon());
  ASSERT_TRUE(exit.ok());
  EXPECT_TRUE(exit->ok());
}

TEST(Subprocess, SeveralLinesAtOnceAreReadOneByOne) {
  auto child = Subprocess::spawn({.argv = {"printf", "a\\nbb\\nccc"}});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(*child->read_line(soon()), "a");
  EXPECT_EQ(*child->read_line(soon()), "bb");
  auto unfinished = child->read_line(soon());
  ASSERT_FALSE(unfinished.ok());
  EXPECT_EQ(unfinished.error().code, Code::process_failed);
}

TEST(Subprocess, MoreThanAPipeHoldsInBothDirections) {
  const std::string big(3 << 20, 'x');
  auto out = run_command({.argv = {"cat"}}, Seconds(20), big);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->out.size(), big.size());
}

TEST(Subprocess, DeadlineIsKeptAndTheGroupDies) {
  const Seconds begin = monotonic_now();
  pid_t group = 0;
  {
    auto child = Subprocess::spawn({.argv = {"sh", "-c", "sleep 60 & sleep 60"}});
    ASSERT_TRUE(child.ok());
    group = child->pid();
    auto line = child->read_line(Deadline(milliseconds(100)));
    ASSERT_FALSE(line.ok());
    EXPECT_EQ(line.error().code, Code::deadline);
    EXPECT_EQ(::kill(-group, 0), 0);
  }
  EXPECT_LT((monotonic_now() - begin).value, 5.0);
  // The orphan is reaped by init at its leisure; dead or gone, no member can run.
  for (int i = 0; i < 200 && ::kill(-group, 0) == 0; ++i) usleep(10000);
  EXPECT_NE(::kill(-group, 0), 0);
}

TEST(Subprocess, DeathIsExplained) {
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "echo bad day >&2; exit 3"}});
  ASSERT_TRUE(child.ok());
  auto line = child->read_line(soon());
  ASSERT_FALSE(line.ok());
  EXPECT_NE(line.error().message.find("exited with code 3"), std::string::npos) << line.error().message;
  EXPECT_NE(line.error().message.find("bad day"), std::string::npos) << line.error().message;
}

TEST(Subprocess, SignalsAreNamed) {
  auto out = run_command({.argv = {"sh", "-c", "kill -SEGV $$"}}, Seconds(10));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->exit.signal, SIGSEGV);
  EXPECT_NE(out->exit.text().find("Segmentation"), std::string::npos);
}

TEST(Subprocess, MissingProgramAndFolder) {
  auto nothing = Subprocess::spawn({.argv = {"no-such-program-here"}});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, Code::not_found);
  auto nowhere = Subprocess::spawn({.argv = {"true"}, .folder = "/no/such/folder"});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Code::not_found);
}

TEST(Subprocess, EnvironmentAndFolder) {
  auto out = run_command({.argv = {"/bin/sh", "-c", "echo $A-$HOME; pwd"},
                          .environment = {{"A", "1"}},
                          .clear_environment = true,
                          .folder = "/"},
                         Seconds(10));
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->out, "1-\n/\n");
}

TEST(Subprocess, OversizedLineBreaksTheProtocol) {
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "head -c 300000 /dev/zero; sleep 30"}, .max_line = 100000});
  ASSERT_TRUE(child.ok());
  auto line = child->read_line(soon());
  ASSERT_FALSE(line.ok());
  EXPECT_EQ(line.error().code, Code::process_failed);
}

TEST(Subprocess, WritingToADeadChildIsAnErrorNotASignal) {
  auto child = Subprocess::spawn({.argv = {"true"}});
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->wait(soon()).ok());
  const std::string big(1 << 20, 'x');
  EXPECT_FALSE(child->write_line(big, soon()).ok());
}

TEST(Subprocess, NothingOfOursLeaksIntoTheChild) {
  auto folder = TempFolder::create("leak");
  ASSERT_TRUE(folder.ok());
  FILE* open_file = fopen((folder->path() / "f").c_str(), "w");  // without O_CLOEXEC
  ASSERT_NE(open_file, nullptr);
  auto out = run_command({.argv = {"sh", "-c", "ls /proc/self/fd | wc -l"}}, Seconds(10));
  fclose(open_file);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(std::stoi(out->out), 4);  // 0, 1, 2 and ls's own folder
}

// A background child that keeps the pipes open does not keep us.
TEST(RunCommand, EndsSoonAfterTheCommandDoes) {
  for (const char* script :
       {"echo done; sleep 30 & exit 0", "echo done; (while :; do echo x >&2; sleep 0.01; done) & exit 0"}) {
    const Seconds begin = monotonic_now();
    const Result<CommandOutput> done = run_command({.argv = {"sh", "-c", script}}, Seconds(20));
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_EQ(done->out, "done\n");
    EXPECT_TRUE(done->exit.ok());
    EXPECT_LT((monotonic_now() - begin).value, 8) << script;
  }
}

// More input than a pipe holds, and nobody who reads it.
TEST(RunCommand, EndsSoonAlsoWhereItsInputIsHeldOpen) {
  const Seconds begin = monotonic_now();
  const std::string big(size_t{1} << 20, 'x');
  const Result<CommandOutput> done =
      run_command({.argv = {"sh", "-c", "exec 3<&0; sleep 30 <&3 & echo done"}}, Seconds(20), big);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(done->out, "done\n");
  EXPECT_LT((monotonic_now() - begin).value, 8);
}

TEST(RunCommand, MoreThanTheLimitIsAnErrorAlsoFromWhatItLeaves) {
  const SpawnOptions options = {.argv = {"sh", "-c", "(sleep 30 & head -c 60000 /dev/zero)"}};
  EXPECT_FALSE(run_command(options, Seconds(20), {}, 50000).ok());
  EXPECT_TRUE(run_command(options, Seconds(20), {}, 70000).ok());
}

// As `exec > >(filter)` does: a shell does not wait for the filter that it writes through.
TEST(RunCommand, ReadsWhatIsStillSaidJustAfterItsEnd) {
  const Result<CommandOutput> done =
      run_command({.argv = {"sh", "-c", "(sleep 0.1; echo late) & exit 3"}}, Seconds(20));
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(done->out, "late\n");
  EXPECT_EQ(done->exit.code, 3);
}

// The reader is told of the end however short the steps are in which it reads.
TEST(Subprocess, ReadingInStepsEndsSoonAfterTheChildDoes) {
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "echo done; sleep 30 & exit 0"}});
  ASSERT_TRUE(child.ok());
  const Seconds begin = monotonic_now();
  std::string out, err;
  Status read = fail(Code::deadline, "");
  while (!read.ok() && (monotonic_now() - begin).value < 20)
    read = child->read_all(out, err, 1000, Deadline(milliseconds(20)));
  EXPECT_EQ(out, "done\n");
  EXPECT_LT((monotonic_now() - begin).value, 8);
}

// More input than a pipe holds.
TEST(RunCommand, MayEndWithoutReadingItsInput) {
  const Result<CommandOutput> done =
      run_command({.argv = {"echo", "done"}}, Seconds(10), std::string(size_t{1} << 20, 'x'));
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(done->out, "done\n");
}

}  // namespace
}  // namespace solstice
