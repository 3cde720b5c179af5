// What the program says of mistakes in the command line and in files, and where its output must be one value.
#include "base/json.h"
#include "store/sqlite.h"
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

TEST_F(ProgramTest, WordsOfOtherProgramsLeadToTheCommand) {
  for (const auto& [word, command] : {std::pair{"clean", "`solstice gc`"},
                                      {"sass", "`solstice compile PROGRAM.ucut --keep`"},
                                      {"gpu", "`solstice doctor`"},
                                      {"runs", "`solstice show`"}}) {
    const CommandOutput done = run({word});
    EXPECT_EQ(done.exit.code, 2);
    EXPECT_NE(done.err.find(std::string("hint: did you mean ") + command), std::string::npos) << done.err;
  }
}

TEST_F(ProgramTest, ATableThatIsNoneLeadsToTheCommand) {
  EXPECT_NE(run({"list"}).err.find("hint: one of families, rules, machines"), std::string::npos);
  EXPECT_NE(run({"list", "runs"}).err.find("hint: did you mean `solstice show`?"), std::string::npos);
  EXPECT_NE(run({"list", "devices"}).err.find("hint: did you mean `solstice doctor`?"), std::string::npos);
  const std::string machines = run({"list", "machines"}).out;
  EXPECT_NE(machines.find("4.8 TB/s"), std::string::npos) << machines;
  EXPECT_NE(machines.find("989 TFLOP/s"), std::string::npos) << machines;
}

TEST_F(ProgramTest, AProviderIsListedWithItsServerAndTheProxy) {
  const std::string providers = run({"list", "providers"}).out;
  for (const char* part : {"base_url", "--option NAME=VALUE", "https_proxy", "no_proxy"})
    EXPECT_NE(providers.find(part), std::string::npos) << providers;
}

TEST_F(ProgramTest, AProgramIsNoModule) {
  const std::string file = (folder_.path() / "p.ucut").string();
  ASSERT_TRUE(write_file(file, "program p\n").ok());
  const CommandOutput done = run({"import", file});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_NE(done.err.find("hint: `solstice optimize " + file + "` searches kernels"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("`solstice run " + file + " --of FILE.py`"), std::string::npos) << done.err;
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

// Beside the command lies the folder that it was given in; the outcome's folder is whole.
TEST_F(ProgramTest, ARunIsFoundAgainFromAnyFolder) {
  const std::string fails =
      "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x): return x @ x\n"
      "def get_inputs(): return [torch.rand(2, 3)]\ndef get_init_inputs(): return []\n";
  ASSERT_TRUE(write_file(folder_.path() / "m.py", fails).ok());
  SpawnOptions options;
  options.argv = {companion("solstice")->string(), "optimize", "m.py", "--device", "model"};
  options.environment = {{"SOLSTICE_HOME", (folder_.path() / "home").string()},
                         {"SOLSTICE_CACHE", (folder_.path() / "cache").string()}};
  options.folder = folder_.path();
  ASSERT_TRUE(run_command(options, Seconds(120)).ok());
  const std::string shown = run({"show", "last"}).out;
  EXPECT_NE(shown.find("folder   " + (folder_.path() / "runs/m").string() + "\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("cd " + folder_.path().string() + " && "), std::string::npos) << shown;
  const Json record = *parse_json(run({"show", "last", "--json"}).out);
  EXPECT_EQ(record.at("run").at("file").as_string(), (folder_.path() / "m.py").string());
}

TEST_F(ProgramTest, AStoreThatIsNoDatabaseLeavesNothingBehind) {
  ASSERT_TRUE(write_file(folder_.path() / "home/runs.db", std::string(4096, 'x')).ok());
  ASSERT_TRUE(write_file(folder_.path() / "m.py", "x = 1\n").ok());
  const auto out = folder_.path() / "out";
  const CommandOutput done = run({"optimize", (folder_.path() / "m.py").string(), "--out", out.string()});
  EXPECT_EQ(done.exit.code, 3);
  EXPECT_NE(done.err.find("move it away, or name another folder"), std::string::npos) << done.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(ProgramTest, ADamagedRunIsListedBesideTheOthers) {
  store::Store store = std::move(store::Store::open(folder_.path() / "home")).value();
  for (const char* id : {"1-good", "2-bad"}) {
    RunRecord record;
    record.id = id;
    record.problem = id;
    ASSERT_TRUE(store.begin_run(record).ok());
  }
  ASSERT_TRUE(store::Database::open(folder_.path() / "home/runs.db")
                  ->execute("UPDATE runs SET record = '{' WHERE id = '2-bad'")
                  .ok());
  const CommandOutput list = run({"show"});
  EXPECT_EQ(list.exit.code, 0) << list.err;
  EXPECT_NE(list.out.find("1-good"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("the record of run 2-bad in " + (folder_.path() / "home/runs.db").string()),
            std::string::npos)
      << list.out;
  const Json all = *parse_json(run({"show", "--json"}).out);
  EXPECT_EQ(all.at(size_t{0}).at("id").as_string(), "2-bad");
  EXPECT_FALSE(all.at(size_t{0}).at("damaged").as_string().empty());
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
  EXPECT_NE(run({"show", "last", "--trial", "1"}).out.find("program\n  program p\n"), std::string::npos);
}

TEST_F(ProgramTest, ATreeNeedsARunAndARunItsEvents) {
  EXPECT_NE(run({"show", "--tree"}).err.find("hint: `solstice show last --tree`"), std::string::npos);
  EXPECT_NE(run({"show", "last", "--depth", "2"}).err.find("--depth goes with the text of --tree"), std::string::npos);
  EXPECT_NE(run({"show", "last", "--tree", "--trial", "1"}).err.find("--trial shows one trial"), std::string::npos);
  store::Store store = std::move(store::Store::open(folder_.path() / "home")).value();
  ASSERT_TRUE(store.begin_run(RunRecord{}).ok());
  const CommandOutput done = run({"show", "last", "--html", (folder_.path() / "page.html").string()});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_NE(done.err.find("has no search tree"), std::string::npos) << done.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "page.html"));
}

}  // namespace
}  // namespace solstice::cli
