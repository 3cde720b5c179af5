// The built program as a user meets it: what it prints, where, and its exit codes.
#include "unit/cli/program.h"

#include <signal.h>
#include <sys/stat.h>

#include <set>

#include "base/file.h"
#include "base/json.h"

namespace solstice::cli {
namespace {

TEST_F(ProgramTest, WithoutACommandItSaysWhatThereIs) {
  const CommandOutput done = run({});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_NE(done.out.find("usage: solstice COMMAND"), std::string::npos);
  EXPECT_EQ(run({"--help"}).exit.code, 0);
}

TEST_F(ProgramTest, EveryCommandHasHelp) {
  EXPECT_EQ(run({"list", "--help"}).out.rfind("usage: solstice list", 0), 0u);
}

TEST_F(ProgramTest, HelpAndVersionHaveTheirUsualWords) {
  EXPECT_EQ(run({"help", "list"}).out, run({"list", "--help"}).out);
  EXPECT_EQ(run({"help", "bench"}).out, run({"bench", "--help"}).out);
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"-V"}).out, run({"--version"}).out);
  const CommandOutput typo = run({"help", "lsit"});
  EXPECT_EQ(typo.exit.code, 2);
  EXPECT_NE(typo.err.find("did you mean `list`?"), std::string::npos);
}

TEST_F(ProgramTest, TwoDashesEndTheOptions) {
  const CommandOutput done = run({"check", "--json", "--", "--help.ucut"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_NE(done.err.find("--help.ucut"), std::string::npos) << done.err;
  EXPECT_EQ(done.err.find("has no option"), std::string::npos) << done.err;
}

TEST_F(ProgramTest, RunsAreListedByNumberAndFailure) {
  EXPECT_NE(run({"show", "--failed"}).out.find("no run failed in"), std::string::npos);
  EXPECT_EQ(run({"show", "--limit", "0"}).exit.code, 2);
  EXPECT_NE(run({"show", "last", "--limit", "3"}).err.find("hint: leave RUN out"), std::string::npos);
}

TEST_F(ProgramTest, BadInputIsExitCode2OnStderr) {
  const CommandOutput done = run({"lsit"});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_TRUE(done.out.empty());
  EXPECT_EQ(done.err, "solstice: error[bad_argument]: no command `lsit`\n  hint: did you mean `list`?\n");
}

TEST_F(ProgramTest, ErrorsAreJsonWhereJsonIsAsked) {
  const CommandOutput done = run({"show", "20990101", "--json"});
  EXPECT_EQ(done.exit.code, 2);
  const Result<Json> json = parse_json(done.out);
  ASSERT_TRUE(json.ok()) << done.out;
  EXPECT_EQ(json->at("error").at("code").as_string(), "not_found");
}

TEST_F(ProgramTest, AMissingRootIsAnEnvironmentError) {
  SpawnOptions options;
  options.argv = {companion("solstice")->string(), "show"};
  options.environment = {{"SOLSTICE_HOME", "/dev/null/home"}};
  const CommandOutput done = std::move(run_command(options, Seconds(60))).value();
  EXPECT_EQ(done.exit.code, 3) << done.err;
}

TEST_F(ProgramTest, ListsMachinesAndFamiliesAsJson) {
  const Json machines = *parse_json(run({"list", "machines", "--json"}).out);
  ASSERT_GT(machines.size(), 0u);
  EXPECT_FALSE(machines.at(size_t{0}).at("arch").as_string().empty());
  EXPECT_TRUE(parse_json(run({"list", "families", "--json"}).out).ok());
}

// By the times that come with Solstice: a model that has lost them is wrong, or its kernels are other ones than were
// measured.
TEST_F(ProgramTest, CostModelsPredictWhatWasMeasured) {
  const CommandOutput done = run({"list", "families", "--fit", "--json"});
  ASSERT_EQ(done.exit.code, 0) << done.err;
  const Json fit = *parse_json(done.out);
  EXPECT_NE(fit.at("origin").as_string().find("NVIDIA H200"), std::string::npos);
  EXPECT_GT(fit.at("programs").as_int(), 400);
  const std::set<std::string> held = {"map", "reduce", "rows", "gemm"};
  size_t seen = 0;
  for (const Json& ratios : fit.at("ratios").items()) {
    if (!ratios.at("form").as_string().empty() || !held.contains(ratios.at("family").as_string())) continue;
    EXPECT_LT(ratios.at("median_error").as_double(), 0.15) << ratios.dump();
    ++seen;
  }
  EXPECT_EQ(seen, held.size());
  for (const Json& choice : fit.at("choices").items()) {
    const bool counts = held.contains(choice.at("family").as_string());
    EXPECT_LT(counts ? choice.at("mean_loss").as_double() : 0, 0.10) << choice.dump();
  }
}

TEST_F(ProgramTest, TheFitSaysWhatItCannotRead) {
  EXPECT_NE(run({"list", "machines", "--fit"}).err.find("go with `list families`"), std::string::npos);
  EXPECT_EQ(run({"list", "families", "--times", "nothing.jsonl"}).exit.code, 2);
  const CommandOutput empty = run({"list", "families", "--trials"});
  EXPECT_EQ(empty.exit.code, 2);
  EXPECT_NE(empty.err.find("no measured kernel in"), std::string::npos) << empty.err;
}

TEST_F(ProgramTest, SaysWhetherProgramsComputeTheSame) {
  const auto program = [&](const char* name, const std::string& body) {
    const std::filesystem::path file = folder_.path() / name;
    EXPECT_TRUE(
        write_file(file, "program p\ndim M = 64, N = 256\ninput x : f32[M,N]\noutput y : f32[M,N]\n" + body + "\n")
            .ok());
    return file.string();
  };
  const std::string square = program("square.ucut", "y[m,n] = x[m,n] ** 2");
  const CommandOutput proved = run({"same", square, program("product.ucut", "y[m,n] = x[m,n] * x[m,n]")});
  EXPECT_EQ(proved.exit.code, 0) << proved.err;
  EXPECT_EQ(proved.out.rfind("proved: ", 0), 0U) << proved.out;
  const std::string other = program("other.ucut", "y[m,n] = select(m == 37 and n == 101, 0, x[m,n] ** 2)");
  const CommandOutput refuted = run({"same", square, other, "--json"});
  EXPECT_EQ(refuted.exit.code, 2) << refuted.err;
  const Json said = *parse_json(refuted.out);
  EXPECT_EQ(said.at("verdict").as_string(), "refuted");
  EXPECT_EQ(said.at("counterexamples").at(size_t{0}).at("index").dump(), "[37,101]");
  EXPECT_NE(run({"same", square, "nowhere.ucut"}).err.find("error[not_found]"), std::string::npos);
}

TEST_F(ProgramTest, TheDoctorAlwaysAnswers) {
  const CommandOutput done = run({"doctor", "--json"});
  EXPECT_EQ(done.exit.code, 0) << done.err;
  const Result<Json> json = parse_json(done.out);
  ASSERT_TRUE(json.ok());
  const Json& findings = json->at("findings");
  std::string parts;
  for (size_t i = 0; i < findings.size(); ++i) {
    parts += findings.at(i).at("part").as_string().substr(0, 8) + ",";
    if (findings.at(i).at("health").as_string() == "missing") {
      EXPECT_FALSE(findings.at(i).at("costs").as_string().empty()) << findings.at(i).dump();
    }
  }
  // With a driver or without.
  for (const char* part : {"CUDA dri,", "GPU", "NVML,", "counters,", "sandbox,"})
    EXPECT_NE(parts.find(part), std::string::npos) << parts;
}

TEST_F(ProgramTest, OptimizeTouchesNoFilesOfTheUser) {
  const auto mine = folder_.path() / "out/model_new.py";
  ASSERT_TRUE(write_file(mine, "mine").ok());
  const CommandOutput done = run({"optimize", "examples/linear_gelu.py", "--out", mine.parent_path().string()});
  EXPECT_EQ(done.exit.code, 2);
  EXPECT_NE(done.err.find(mine.string() + " exists and is not a file of an earlier result"), std::string::npos)
      << done.err;
  EXPECT_EQ(*read_file(mine), "mine");
}

TEST_F(ProgramTest, CtrlCEndsACommandThatDoesNotPollForIt) {
  const std::string endless = (folder_.path() / "endless.ucut").string();
  ASSERT_EQ(::mkfifo(endless.c_str(), 0600), 0);  // nobody writes: reading it waits
  for (const int number : {SIGINT, SIGTERM}) {
    auto child = Subprocess::spawn({.argv = {companion("solstice")->string(), "check", endless}});
    ASSERT_TRUE(child.ok()) << child.error().text();
    EXPECT_FALSE(child->wait(Deadline(Seconds(0.3))).ok());
    ::kill(child->pid(), number);
    const auto exit = child->wait(Deadline(Seconds(10)));
    ASSERT_TRUE(exit.ok()) << exit.error().text();
    EXPECT_EQ(exit->signal, number);
  }
}

TEST_F(ProgramTest, AnEmptyStoreIsNoError) {
  const CommandOutput done = run({"show"});
  EXPECT_EQ(done.exit.code, 0);
  EXPECT_EQ(done.out.rfind("no runs yet", 0), 0u) << done.out;
}

}  // namespace
}  // namespace solstice::cli
