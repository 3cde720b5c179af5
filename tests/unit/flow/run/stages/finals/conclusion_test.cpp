#include "flow/run/stages/finals/conclusion.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "evaluate/preparation.h"
#include "flow/run/stages/finals/memory_peaks.h"
#include "flow/run/state/engine.h"

namespace solstice::flow {
namespace {

// An oracle that cannot answer: its process is gone.
class Gone final : public run::OracleTransport {
 public:
  Status write_line(std::string_view, const Deadline&) override { return success(); }
  Result<std::string> read_line(const Deadline&) override { return fail(Code::process_failed, "the oracle is gone"); }
  void abandon() override {}
};

class ConclusionTest : public ::testing::Test {
 protected:
  ConclusionTest() {
    problem_.cached = folder_.path() / "graph.json";
    EXPECT_TRUE(write_file(problem_.cached, "{}").ok());
  }

  void trial(TrialState how, const char* detail = "", bool given_up = false) {
    const search::Node* node = run_.tree.add({"program " + std::to_string(run_.tree.nodes().size()), "", Seconds(0)});
    search::Measurement m;
    m.state = how;
    m.time = microseconds(3);
    m.detail = detail;
    if (given_up) m.record.set(evaluate::kGivenUp, true);
    run_.tree.complete(node->id, m);
  }

  void finalist(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    finalists_.emplace_back().verdict = verdict;
  }

  bool dropped(const Status& done = success()) {
    distrust_graph(run_, problem_, finalists_, done);
    return !std::filesystem::exists(problem_.cached) && run_.report.warnings.size() == 1;
  }

  TempFolder folder_ = std::move(TempFolder::create("conclusion-")).value();
  SilentProgress silent_;
  Engine engine_;
  flow::Run run_{OptimizeOptions(), silent_, engine_.parts()};
  Problem problem_;
  std::vector<Finalist> finalists_;
};

TEST_F(ConclusionTest, AGraphThatVerifiedIsKeptWhereNothingWasFaster) {
  run_.report.outcome = RunOutcome::kNotFaster;
  trial(TrialState::kWrong);
  trial(TrialState::kVerified);
  EXPECT_FALSE(dropped());
  finalist(Outcome::kPassed);
  EXPECT_FALSE(dropped());
  EXPECT_TRUE(run_.report.warnings.empty());
}

TEST_F(ConclusionTest, AGraphUnderWhichEveryTrialIsWrongIsDropped) {
  run_.report.outcome = RunOutcome::kNotFaster;
  EXPECT_FALSE(dropped());  // no trial says nothing of it
  trial(TrialState::kWrong);
  EXPECT_TRUE(dropped());
}

TEST_F(ConclusionTest, AGraphThatFailsTheFullVerificationIsDropped) {
  trial(TrialState::kVerified);
  finalist(Outcome::kWrongResult);
  EXPECT_TRUE(dropped());
}

TEST_F(ConclusionTest, AModuleThatFailsSaysNothingOfItsGraph) {
  EXPECT_FALSE(dropped(fail(Code::module_forward, "raises")));
  EXPECT_FALSE(dropped(fail(Code::not_yet, "later")));
  EXPECT_TRUE(dropped(fail(Code::internal, "a bug")));
}

TEST_F(ConclusionTest, AWinStaysOneWhereMemoryCannotBeMeasured) {
  run_.engine.oracle.emplace(std::make_unique<Gone>(), run::OracleLimits{});
  run_.report.outcome = RunOutcome::kFaster;
  measure_memory(run_, problem_);
  EXPECT_EQ(run_.report.outcome, RunOutcome::kFaster);
  EXPECT_FALSE(run_.report.original_peak_memory || run_.report.replacement_peak_memory);
  ASSERT_EQ(run_.report.warnings.size(), 1u);
  EXPECT_EQ(run_.report.warnings[0], "peak memory was not measured: the oracle is gone");
}

TEST_F(ConclusionTest, NoTrialIsTheReason) {
  run_.options.search.budget = Seconds(0.1);
  run_.report.outcome = RunOutcome::kNotFaster;
  run_.report.reason = "no candidate was verified";
  conclude_search(run_, search::Stop::kTime, true);
  EXPECT_EQ(run_.report.reason, "no trial was run: the budget of 100 ms was used up before one could finish");
  run_.report.outcome = RunOutcome::kNone;
  conclude_search(run_, search::Stop::kTime, false);
  EXPECT_EQ(run_.report.outcome, RunOutcome::kPredicted);
  EXPECT_EQ(run_.report.reason.rfind("no trial was run: ", 0), 0u);
}

TEST_F(ConclusionTest, TrialsThatWereGivenUpAreNoTrials) {
  run_.options.search.budget = Seconds(2);
  trial(TrialState::kNotCompiled, "not compiled: the time was up", true);
  for (const bool gpu : {false, true}) {
    run_.report.outcome = RunOutcome::kNone;
    conclude_search(run_, search::Stop::kTrials, gpu);
    EXPECT_TRUE(run_.report.out_of_time);
    EXPECT_EQ(run_.report.reason, "no trial was run: the budget of 2 s was used up before one could finish");
  }
  run_.report.outcome = RunOutcome::kNone;
  trial(TrialState::kNotCompiled, "expected a `;`");
  conclude_search(run_, search::Stop::kTime, false);
  EXPECT_FALSE(run_.report.out_of_time) << "one came to its end";
}

TEST_F(ConclusionTest, WithoutAGpuTheReasonIsThePredictionOrTheFirstRefusal) {
  trial(TrialState::kIllegal, "no such knob");
  conclude_search(run_, search::Stop::kExhausted, false);
  EXPECT_EQ(run_.report.reason,
            "no GPU: nothing was measured, and no candidate passed its checks; trial 1: no such knob");
  run_.report.outcome = RunOutcome::kNone;
  trial(TrialState::kPredicted);
  conclude_search(run_, search::Stop::kExhausted, false);
  EXPECT_EQ(run_.report.reason, "no GPU: nothing was measured; the best candidate is predicted to take 3 us");
  EXPECT_EQ(run_.report.outcome, RunOutcome::kPredicted);
  run_.report.outcome = RunOutcome::kNone;
  run_.options.asked_to_predict = true;
  conclude_search(run_, search::Stop::kExhausted, false);
  EXPECT_EQ(run_.report.reason.rfind("--device model: nothing was measured", 0), 0u);
}

TEST_F(ConclusionTest, AnEarlierOutcomeIsNamedWhereOneIs) {
  EXPECT_EQ(that_left(fail(Code::module_forward, "raises"), folder_.path()).message, "raises");
  ASSERT_TRUE(write_file(folder_.path() / "report.json", "{}").ok());
  EXPECT_EQ(that_left(fail(Code::module_forward, "raises"), folder_.path()).message,
            "raises; the earlier outcome in " + folder_.path().string() + " is unchanged");
}

}  // namespace
}  // namespace solstice::flow
