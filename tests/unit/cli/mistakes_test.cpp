// What the program says of mistakes in the command line and in files, and where its output must be one value.
#include "base/json.h"
#include "store/store.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

TEST_F(ProgramTest, AGroupOfCommandsHasHelp) {
  for (const char* group : {"bench", "jit"}) {
    const CommandOutput help = run({group, "--help"});
    EXPECT_EQ(help.exit.code, 0) << help.err;
    EXPECT_NE(help.out.find(std::string("usage: solstice ") + group), std::string::npos);
  }
  const CommandOutput alone = run({"bench"});
  EXPECT_EQ(alone.exit.code, 2);
  EXPECT_NE(alone.err.find("`bench kernelbench`"), std::string::npos) << alone.err;
}

TEST_F(ProgramTest, DiagnosticsNameTheUsersFile) {
  const std::string file = (folder_.path() / "tall.ucut").string();
  ASSERT_TRUE(write_file(file, "program tall\ninput x : f33[4]\n").ok());
  for (const char* command : {"check", "compile", "run"}) {
    const CommandOutput done = run({command, file});
    EXPECT_EQ(done.exit.code, 2);
    EXPECT_NE((done.err + done.out).find(file + ":2:"), std::string::npos) << done.err << done.out;
    EXPECT_EQ((done.err + done.out).find("candidate:"), std::string::npos);
  }
}

TEST_F(ProgramTest, AFolderIsNoFile) {
  for (const char* command : {"check", "compile", "import", "optimize"}) {
    const CommandOutput done = run({command, folder_.path().string()});
    EXPECT_EQ(done.exit.code, 2) << command;
    EXPECT_NE(done.err.find("is a folder, not a file"), std::string::npos) << command << done.err;
  }
}

TEST_F(ProgramTest, WhereNothingCanBeWrittenIsTheEnvironmentsFault) {
  const std::string file = (folder_.path() / "a.py").string();
  ASSERT_TRUE(write_file(file, "x = 1\n").ok());
  for (const std::string& out : {std::string("/proc/foo"), file}) {
    const CommandOutput done = run({"optimize", file, "--out", out});
    EXPECT_EQ(done.exit.code, 3) << done.err;
    EXPECT_NE(done.err.find(out), std::string::npos) << done.err;
  }
}

TEST_F(ProgramTest, ATrialAsJsonIsOneValue) {
  store::Store store = std::move(store::Store::open(folder_.path() / "home")).value();
  RunRecord record;
  record.problem = "p";
  TrialRecord trial;
  trial.run = *store.begin_run(record);
  trial.number = 1;
  trial.program = "program p\n";
  ASSERT_TRUE(store.add_trial(trial).ok());
  const Result<Json> json = parse_json(run({"show", "last", "--trial", "1", "--json"}).out);
  ASSERT_TRUE(json.ok()) << json.error().text();
  EXPECT_EQ(json->at("program").as_string(), "program p\n");
  EXPECT_NE(run({"show", "last", "--trial", "1"}).out.find("\nprogram p\n"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
