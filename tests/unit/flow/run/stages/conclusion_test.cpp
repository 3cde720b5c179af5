#include "flow/run/stages/conclusion.h"

#include <gtest/gtest.h>

#include "base/file.h"

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
    state_.gpu = true;
    state_.problem.emplace();
    state_.problem->cached = folder_.path() / "graph.json";
    EXPECT_TRUE(write_file(state_.problem->cached, "{}").ok());
  }

  void trial(TrialState how, const char* detail = "") {
    const search::Node* node =
        state_.tree.add({"program " + std::to_string(state_.tree.nodes().size()), "", Seconds(0)});
    search::Measurement m;
    m.state = how;
    m.time = microseconds(3);
    m.detail = detail;
    state_.tree.complete(node->id, m);
  }

  void finalist(Outcome outcome) {
    Verdict verdict;
    verdict.outcome = outcome;
    state_.finalists.emplace_back().verdict = verdict;
  }

  bool dropped(const Status& done = success()) {
    distrust_graph(state_, done);
    return !std::filesystem::exists(state_.problem->cached) && state_.report.warnings.size() == 1;
  }

  TempFolder folder_ = std::move(TempFolder::create("conclusion-")).value();
  OptimizeOptions options_;
  SilentProgress silent_;
  Engine engine_;
  Session state_{options_, silent_, engine_};
};

TEST_F(ConclusionTest, AGraphThatVerifiedIsKeptWhereNothingWasFaster) {
  state_.report.outcome = RunOutcome::kNotFaster;
  trial(TrialState::kWrong);
  trial(TrialState::kVerified);
  EXPECT_FALSE(dropped());
  finalist(Outcome::kPassed);
  EXPECT_FALSE(dropped());
  EXPECT_TRUE(state_.report.warnings.empty());
}

TEST_F(ConclusionTest, AGraphUnderWhichEveryTrialIsWrongIsDropped) {
  state_.report.outcome = RunOutcome::kNotFaster;
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
  state_.oracle.emplace(std::make_unique<Gone>(), run::OracleLimits{});
  state_.report.outcome = RunOutcome::kFaster;
  measure_memory(state_);
  EXPECT_EQ(state_.report.outcome, RunOutcome::kFaster);
  EXPECT_FALSE(state_.report.original_peak_memory || state_.report.replacement_peak_memory);
  ASSERT_EQ(state_.report.warnings.size(), 1u);
  EXPECT_EQ(state_.report.warnings[0], "peak memory was not measured: the oracle is gone");
}

TEST_F(ConclusionTest, NoTrialIsTheReason) {
  options_.budget = Seconds(0.1);
  state_.stop = search::Stop::kTime;
  state_.report.outcome = RunOutcome::kNotFaster;
  state_.report.reason = "no candidate was verified";
  conclude_search(state_);
  EXPECT_EQ(state_.report.reason, "no trial was run: the budget of 100 ms was used up before one could finish");
  state_.gpu = false;
  state_.report.outcome = RunOutcome::kNone;
  conclude_search(state_);
  EXPECT_EQ(state_.report.outcome, RunOutcome::kNotFaster);
  EXPECT_EQ(state_.report.reason.rfind("no trial was run: ", 0), 0u);
}

TEST_F(ConclusionTest, WithoutAGpuTheReasonIsThePredictionOrTheFirstRefusal) {
  state_.gpu = false;
  trial(TrialState::kIllegal, "no such knob");
  conclude_search(state_);
  EXPECT_EQ(state_.report.reason, "no GPU, and no candidate passed its checks; trial 1: no such knob");
  state_.report.outcome = RunOutcome::kNone;
  trial(TrialState::kPredicted);
  conclude_search(state_);
  EXPECT_EQ(state_.report.reason, "no GPU: the best candidate is predicted to take 3 us; nothing was measured");
}

TEST_F(ConclusionTest, AnEarlierOutcomeIsNamedWhereOneIs) {
  EXPECT_EQ(that_left(fail(Code::module_forward, "raises"), folder_.path()).message, "raises");
  ASSERT_TRUE(write_file(folder_.path() / "report.json", "{}").ok());
  EXPECT_EQ(that_left(fail(Code::module_forward, "raises"), folder_.path()).message,
            "raises; the earlier outcome in " + folder_.path().string() + " is unchanged");
}

}  // namespace
}  // namespace solstice::flow
