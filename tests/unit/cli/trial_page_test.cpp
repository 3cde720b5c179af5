// solstice show RUN --trial N and show --problem, on a store of its own.
#include "base/json.h"
#include "record/kernel_trace.h"
#include "record/verdict.h"
#include "store/store.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

search::Event proposed(int node, int parent, const std::string& program, const std::string& why) {
  search::Event event;
  event.node = node;
  event.proposal.emplace();
  event.proposal->program = program;
  event.proposal->reason = why;
  event.proposal->parent = parent;
  return event;
}

search::Event measured(int node, double seconds) {
  search::Event event;
  event.kind = search::Event::Kind::kMeasured;
  event.node = node;
  event.measurement.emplace();
  event.measurement->state = TrialState::kVerified;
  event.measurement->time = Seconds(seconds);
  return event;
}

class TrialPageTest : public ProgramTest {
 protected:
  // A run of two trials: the second changes a knob of the first, is wrong in one case, and was traced.
  void add_run(const std::string& problem) {
    store::Store store = store::Store::open(folder_.path() / "home").value();
    RunRecord record;
    record.problem = record.problem_key = problem;
    const std::string id = *store.begin_run(record);
    ASSERT_TRUE(store.add_event(id, 0, proposed(1, 0, "program p\nkernel k by rows(threads=128) {\n", "first")).ok());
    ASSERT_TRUE(store.add_event(id, 1, measured(1, 2e-5)).ok());
    const std::string changed = "program p\nkernel k by rows(threads=256) {\n";
    ASSERT_TRUE(store.add_event(id, 2, proposed(2, 1, changed, "more threads")).ok());
    const TrialRecord trial = second(id, changed);
    ASSERT_TRUE(store.add_event(id, 3, measured(2, 1e-5), &trial).ok());
  }

  TrialRecord second(const std::string& run, const std::string& program) {
    TrialRecord trial;
    trial.run = run;
    trial.number = 2;
    trial.program = program;
    trial.what = "more threads";
    trial.settings = {"k rows(threads=256)"};
    trial.state = TrialState::kWrong;
    trial.message = "`y` is off by 0.3";
    trial.measured = Seconds(1e-5);
    Verdict verdict;
    verdict.outcome = Outcome::kWrongResult;
    verdict.policy = "reference";
    CaseVerdict one;
    one.name = "seed 42, zeros";
    one.outputs.emplace_back();
    one.outputs[0].output = "y";
    one.outputs[0].normwise = 0.25;
    one.outputs[0].outcome = Outcome::kWrongResult;
    verdict.cases.push_back(one);
    trial.verdict = to_json(verdict);
    KernelTrace trace;
    trace.kernels.push_back({"k", Seconds(8e-6), Seconds(7e-6), {}});
    trial.trace = to_json(trace);
    return trial;
  }
};

TEST_F(TrialPageTest, ATrialIsAPageInSections) {
  ASSERT_NO_FATAL_FAILURE(add_run("softmax"));
  const std::string page = run({"show", "last", "--trial", "2"}).out;
  for (const char* part :
       {"parent     trial 1 (verified, 20 us)", "why        `y` is off by 0.3", "schedule\n  k rows(threads=256)",
        "changes from trial 1\n", "  -kernel k by rows(threads=128) {", "  +kernel k by rows(threads=256) {",
        "wrong result, under the policy `reference`", "seed 42, zeros", "2.50e-01", "time by kernel\n", "100 %",
        "program\n  program p\n"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_EQ(page.find('{' + std::string("\n  \"")), std::string::npos) << page;
  const Json json = *parse_json(run({"show", "last", "--trial", "2", "--json"}).out);
  EXPECT_EQ(json.at("parent").as_int(), 1);
  EXPECT_NE(json.at("changes").as_string().find("+kernel k by rows(threads=256) {"), std::string::npos);
}

TEST_F(TrialPageTest, FailedTrialsAreListedWithWhatWasSaid) {
  ASSERT_NO_FATAL_FAILURE(add_run("softmax"));
  EXPECT_NE(run({"show", "last"}).out.find("2 trials; 1 failed: `solstice show last --failed` says why"),
            std::string::npos);
  const std::string failed = run({"show", "last", "--failed"}).out;
  EXPECT_NE(failed.find("trial 2, wrong: more threads\n  `y` is off by 0.3\n"), std::string::npos) << failed;
  EXPECT_NE(failed.find("`solstice show last --trial N`"), std::string::npos) << failed;
  const Json json = *parse_json(run({"show", "last", "--failed", "--json"}).out);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json.at(size_t{0}).at("number").as_int(), 2);
  EXPECT_NE(run({"show", "last", "--failed", "--trial", "2"}).err.find("hint: give one of them"), std::string::npos);
}

TEST_F(TrialPageTest, ATrialWithoutAResultIsNoUnknownOne) {
  ASSERT_NO_FATAL_FAILURE(add_run("softmax"));
  store::Store store = store::Store::open(folder_.path() / "home").value();
  const std::string id = store.list(1)->front().id;
  ASSERT_TRUE(store.add_event(id, 4, proposed(3, 1, "program p\n", "under way")).ok());
  EXPECT_NE(run({"show", "last", "--trial", "3"}).err.find("has no result: it is "), std::string::npos);
  EXPECT_NE(run({"show", "last", "--trial", "4"}).err.find("has no trial 4\n  hint: it has 1"), std::string::npos);
}

TEST_F(TrialPageTest, AModuleThatWasCutNamesTheRunsOfItsStages) {
  store::Store store = store::Store::open(folder_.path() / "home").value();
  RunRecord whole, part;
  whole.problem = whole.problem_key = "net";
  const std::string id = *store.begin_run(whole);
  part.problem = part.problem_key = "net, stage 1";
  part.options.set("part", true).set("part_of", id);
  const std::string stage = *store.begin_run(part);
  ASSERT_TRUE(store
                  .finish_run(id, RunState::kFinished, RunOutcome::kPredicted, "",
                              Json::object().set("parts", Json::array().push(Json::object())))
                  .ok());
  const std::string page = run({"show", id}).out;
  EXPECT_NE(page.find(stage + "  net, stage 1"), std::string::npos) << page;
}

TEST_F(TrialPageTest, RunsAreListedByProblem) {
  ASSERT_NO_FATAL_FAILURE(add_run("softmax"));
  ASSERT_NO_FATAL_FAILURE(add_run("mlp"));
  const Json listed = *parse_json(run({"show", "--problem", "mlp", "--json"}).out);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed.at(size_t{0}).at("problem").as_string(), "mlp");
  EXPECT_NE(run({"show", "--problem", "gelu"}).out.find("no run of `gelu` in"), std::string::npos);
  EXPECT_EQ(run({"show", "last", "--problem", "mlp"}).exit.code, 2);
  EXPECT_NE(run({"show", "--trial", "2"}).err.find("hint: `solstice show last --trial 2`"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
