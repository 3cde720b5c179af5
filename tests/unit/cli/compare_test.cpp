// solstice compare: its text on made-up runs, and the command on a store.
#include <gtest/gtest.h>

#include "cli/command_options.h"
#include "cli/view/compare_text.h"
#include "support/golden.h"
#include "support/made_runs.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

using search::Event;

std::string made_id(int number) { return fmt::format("20260102-030405-run{}", number); }

// Children of the original, which takes 8 ms, in this order; each trial takes 1 s.
store::LoadedRun climb(int number, const std::string& policy, const std::vector<double>& milliseconds,
                       double original = 8) {
  store::LoadedRun out;
  out.run.id = made_id(number);
  out.run.problem = "made", out.run.problem_key = "p", out.run.options_key = "o";
  out.run.machine = "h200", out.run.device = "NVIDIA H200", out.run.policy = policy, out.run.seed = number;
  out.run.versions = {{"solstice", "0.1.0"}, {"build", "0123456789abcdef"}, {"torch", "2.9"}};
  out.run.command = {"solstice",     "optimize", "made.py", "--budget",
                     "60s,40trials", "--policy", policy,    "--no-baselines"};
  out.run.started = "2026-01-02T23:59:59.500Z", out.run.finished = "2026-01-03T00:01:00.000Z";
  out.run.state = RunState::kFinished, out.run.outcome = RunOutcome::kFaster;
  search::Tree tree(Seconds(original * 1e-3));
  for (size_t i = 0; i < milliseconds.size(); ++i) {
    search::Proposal proposal{.program = testing::made_program(fmt::format("stages={}", i)), .reason = "a move"};
    proposal.tokens = 100;
    const int node = tree.add(proposal)->id;
    search::Measurement measurement = testing::verified(milliseconds[i] * 1e-3);
    if (milliseconds[i] == 0) measurement = testing::failed(TrialState::kWrong, "off");
    measurement.cost = Seconds(1);
    tree.complete(node, measurement);
  }
  for (const Event& event : tree.events()) out.events.push_back({event, out.run.started});
  return out;
}

flow::RunComparison compared(const std::vector<store::LoadedRun>& runs, bool grouped = false) {
  Result<flow::RunComparison> out = flow::compare_runs(runs, grouped);
  EXPECT_TRUE(out.ok()) << out.error().text();
  return out.ok() ? std::move(out).value() : flow::RunComparison();
}

TEST(Compare, SetsTwoRunsSideBySide) {
  store::LoadedRun mixed = testing::made_run("mixed");
  mixed.run.problem = "made", mixed.run.device = "NVIDIA H200", mixed.run.summary.set("speedup", 3.9);
  testing::expect_golden("compare/two.txt", comparison_text(compared({mixed, climb(1, "greedy", {0, 4, 2, 2.1})})));
}

TEST(Compare, GroupsRunsByPolicy) {
  std::vector<store::LoadedRun> runs = {climb(1, "greedy", {4, 0, 2}), climb(2, "greedy", {8, 4, 1}),
                                        climb(3, "greedy", {9, 9, 9, 1.9})};
  runs.push_back(climb(4, "mcts", {1.02, 1.01}));
  testing::expect_golden("compare/groups.txt", comparison_text(compared(runs, true)));
}

// The best is 8x: 7.6x is reached at 1.05 ms. A measurement again counts as one.
TEST(Compare, CountsTheWayToTheBetterRunsSpeedup) {
  const flow::RunComparison out = compared({climb(1, "a", {4, 2, 1}), climb(2, "b", {1.04, 4}), climb(3, "c", {1.06})});
  EXPECT_EQ(out.unit, flow::ProgressUnit::kSpeedup);
  EXPECT_NEAR(*out.goal, 7.6, 1e-9);
  EXPECT_EQ(out.runs[0].reached->trials, 3);
  EXPECT_EQ(out.runs[0].reached->spent, Seconds(3));
  EXPECT_EQ(out.runs[1].reached->trials, 1);
  EXPECT_FALSE(out.runs[2].reached.has_value());
  EXPECT_EQ(out.runs[0].tokens, 300);
  EXPECT_EQ(*out.runs[0].took, Seconds(60.5));
  EXPECT_EQ(out.programs->before, made_id(2));
  EXPECT_EQ(out.programs->after, made_id(1));
  EXPECT_TRUE(out.cautions.empty()) << out.cautions.front();
}

TEST(Compare, WithoutTheOriginalsTimeTimesAreCompared) {
  const flow::RunComparison out = compared({climb(1, "a", {4, 2}, 0), climb(2, "b", {2.05, 1.9}, 0)});
  EXPECT_EQ(out.unit, flow::ProgressUnit::kSeconds);
  EXPECT_NEAR(*out.goal, 0.002, 1e-12);
  EXPECT_EQ(out.runs[0].reached->trials, 2);
  EXPECT_EQ(out.runs[1].reached->trials, 2);
  EXPECT_FALSE(out.runs[0].curve[0].best.has_value());
  EXPECT_NEAR(out.runs[0].curve[1].best->value, 0.004, 1e-12);
  EXPECT_EQ(out.cautions, std::vector<std::string>{"no run timed the original: times are compared, not speedups"});
}

TEST(Compare, ALanguageModelMakesAGroupOfItsOwn) {
  store::LoadedRun alone = climb(1, "greedy", {4}), with = climb(2, "greedy", {2});
  with.run.summary.set("agent", Json::object()
                                    .set("controller", "flat")
                                    .set("provider", "openai")
                                    .set("model", "a-model")
                                    .set("writes", "ucut")
                                    .set("sol", false)
                                    .set("feedback", "none"));
  const flow::RunComparison out = compared({alone, with}, true);
  ASSERT_EQ(out.groups.size(), 2u);
  EXPECT_EQ(out.groups[1].agent, "flat with a-model, writes ucut, sol off, feedback none");
  EXPECT_NE(comparison_text(out).find("greedy, flat with a-model, writes ucut"), std::string::npos);
}

TEST(Compare, NothingFasterIsNoGoal) {
  const flow::RunComparison out = compared({climb(1, "a", {9}), climb(2, "b", {0})});
  EXPECT_FALSE(out.goal.has_value());
  EXPECT_FALSE(out.runs[0].reached.has_value());
  EXPECT_FALSE(out.programs.has_value());
  EXPECT_EQ(out.runs[0].curve[1].best, milliseconds(8)) << "the original stays";
  EXPECT_NE(comparison_text(out).find("fewer than two of the runs have a best program"), std::string::npos);
}

TEST(Compare, WhatStandsAgainstItIsSaidFirst) {
  store::LoadedRun other = climb(2, "greedy", {4}, 9);
  other.run.problem_key = "q", other.run.options_key = "r", other.run.machine = "h100",
  other.run.device = "NVIDIA H100";
  other.run.versions = {{"solstice", "0.2.0"}, {"torch", "2.10"}};
  other.run.state = RunState::kInterrupted;
  const std::vector<std::string> cautions = compared({climb(1, "greedy", {4}), other}).cautions;
  ASSERT_EQ(cautions.size(), 8u) << fmt::format("{}", fmt::join(cautions, "\n"));
  EXPECT_EQ(cautions[0], "other problem texts: made p (20260102-030405-run1); made q (20260102-030405-run2)");
  EXPECT_EQ(cautions[4],
            "other builds of Solstice: 0.1.0 build 01234567 (20260102-030405-run1); 0.2.0 build unknown "
            "(20260102-030405-run2)");
  EXPECT_EQ(cautions[6], "the original took 8 ms to 9 ms: each speedup uses the time of its own run");
  EXPECT_EQ(cautions[7], "run 20260102-030405-run2 is not finished: interrupted");
}

TEST(Compare, NoTextOfARunCommandsTheTerminal) {
  store::LoadedRun evil = testing::made_run("evil"), other = testing::made_run("evil");
  evil.run.policy = evil.run.reason = "\x1b[2J", other.run.id = made_id(1);
  for (store::StoredEvent& stored : other.events) {
    if (stored.event.proposal) stored.event.proposal->program += "# \x1b[2J \xc2\x9b";
  }
  const std::string text = comparison_text(compared({evil, other}));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
}

TEST(Compare, ARunWithoutASearchHasItsTrials) {
  store::LoadedRun old = climb(2, "", {});
  old.events.clear();
  old.run.summary = Json::object().set("original", 0.008);
  for (int i = 1; i <= 3; ++i) {
    TrialRecord trial;
    trial.run = old.run.id, trial.number = i, trial.program = std::to_string(i) + "\n";
    trial.state = i == 3 ? TrialState::kWrong : TrialState::kVerified;
    if (i < 3) trial.measured = milliseconds(i);
    old.trials.push_back(trial);
  }
  const flow::RunComparison out = compared({climb(1, "greedy", {4}), old});
  EXPECT_EQ(out.runs[1].best, milliseconds(1));
  EXPECT_EQ(out.runs[1].states.at("wrong"), 1);
  EXPECT_FALSE(out.runs[1].reached.has_value());
  EXPECT_EQ(out.cautions,
            std::vector<std::string>{"run 20260102-030405-run2 has no recorded search: only its trials are known"});
}

TEST(Compare, ReadsOptionsAsTheCommandDoes) {
  EXPECT_EQ(
      options_of({"solstice", "optimize", "a.py", "--eps=0.1", "--no-baselines", "--policy", "mcts", "--budget", "9s"}),
      (std::map<std::string, std::string>{{"--eps", "0.1"}, {"--no-baselines", "given"}, {"--budget", "9s"}}));
  EXPECT_TRUE(options_of({}).empty());
  EXPECT_TRUE(options_of({"python", "train.py", "--x"}).empty());
}

class CompareCommand : public ProgramTest {
 protected:
  std::string folder() const { return (folder_.path() / "store").string(); }
  CommandOutput compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.insert(arguments.end(), {"--store", folder()});
    return run(std::move(arguments));
  }
  void add(const store::LoadedRun& run) {
    Result<store::Store> store = store::Store::open(folder());
    ASSERT_TRUE(store.ok());
    const Result<bool> added = store->add_run(run);
    ASSERT_TRUE(added.ok()) << added.error().text();
  }
};

TEST_F(CompareCommand, TakesRunsOrAProblem) {
  add(climb(1, "greedy", {4, 2}));
  add(climb(2, "mcts", {1}));
  store::LoadedRun going = climb(3, "mcts", {1});
  going.run.state = RunState::kInterrupted;
  add(going);
  const CommandOutput named = compare({"last", "20260102-030405-run1", "--json"});
  ASSERT_EQ(named.exit.code, 0) << named.err;
  const Result<Json> json = parse_json(named.out);
  ASSERT_TRUE(json.ok());
  EXPECT_TRUE(from_json<flow::RunComparison>(*json).ok());
  EXPECT_EQ(json->at("runs").size(), 2u);
  EXPECT_EQ(json->at("groups").size(), 0u);
  const CommandOutput problem = compare({"--problem", "made"});
  EXPECT_NE(problem.out.find("20260102-030405-run2"), std::string::npos) << problem.err;
  EXPECT_EQ(problem.out.find("20260102-030405-run3"), std::string::npos) << "it is not finished";
}

TEST_F(CompareCommand, SaysWhatItCannotCompare) {
  add(climb(1, "greedy", {4, 2}));
  EXPECT_NE(compare({"last"}).err.find("two runs or more; 1 given"), std::string::npos);
  EXPECT_NE(compare({"last", "20260102-030405-run1"}).err.find("is named twice"), std::string::npos);
  EXPECT_NE(compare({}).err.find("named one by one, or by --problem"), std::string::npos);
  EXPECT_NE(compare({"last", "--problem", "made"}).err.find("named one by one, or by --problem"), std::string::npos);
  EXPECT_NE(compare({"--problem", "none"}).err.find("error[not_found]: no finished run of `none`"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
