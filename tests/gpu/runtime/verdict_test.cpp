// Every kind of misbehaviour gets its own verdict, and the next candidate is judged as if nothing had been.
#include "fixture.h"

namespace solstice::run {
namespace {

using VerdictTest = RuntimeTest;

TEST_F(VerdictTest, HonestWorkPasses) {
  const Verdict verdict = verify(plan_of("honest"));
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << verdict.message;
  ASSERT_EQ(verdict.cases.size(), 4u);  // two cases, two passes
  const OutputVerdict& y = verdict.cases[0].outputs.at(0);
  EXPECT_EQ(y.elements, kElements);
  EXPECT_LT(y.normwise, 1e-7);
  EXPECT_NEAR(y.normwise, *y.pytorch_normwise, 1e-9);
  EXPECT_GE(y.limit_normwise, y.normwise);
  EXPECT_EQ(verdict.slots, 2);
}

struct Expectation {
  const char* entry;
  Outcome outcome;
  const char* message;  // part of it
};

TEST_F(VerdictTest, MisbehaviourIsNamed) {
  const Expectation expectations[] = {
      {"skips_the_tail", Outcome::kNotWritten, "924 of 1048476 elements were not written"},
      {"leaves_everything", Outcome::kNotWritten, "1048476 of 1048476"},
      {"imprecise", Outcome::kWrongResult, "at worst element"},
      {"one_wrong_element", Outcome::kWrongResult, "element 777"},
      {"makes_a_nan", Outcome::kNanMismatch, "the first is element 5"},
      {"writes_past_the_end", Outcome::kRedZone, "output `y`, 12 bytes past its end"},
      {"writes_an_input", Outcome::kWroteInput, "input `x`"},
      {"writes_a_parameter", Outcome::kWroteInput, "param `w`"},
      {"never_ends", Outcome::kHung, "did not finish"},
      {"traps", Outcome::kCrashed, ""},
      {"reads_nowhere", Outcome::kCrashed, "illegal"},
      {"writes_far_away", Outcome::kCrashed, "illegal"},
      {"no_such_kernel", Outcome::kLoadFailed, "has no kernel `no_such_kernel`"},
  };
  for (const Expectation& expected : expectations) {
    const Seconds begin = monotonic_now();
    const Verdict verdict = verify(plan_of(expected.entry));
    const double took = (monotonic_now() - begin).value;
    EXPECT_EQ(enum_names(verdict.outcome)[static_cast<size_t>(verdict.outcome)],
              std::string(enum_names(expected.outcome)[static_cast<size_t>(expected.outcome)]))
        << expected.entry << ": " << verdict.message;
    EXPECT_NE(verdict.message.find(expected.message), std::string::npos) << expected.entry << ": " << verdict.message;
    // A trial is all that it costs: whatever came before, honest work passes.
    const Verdict next = verify(plan_of("honest"));
    EXPECT_EQ(next.outcome, Outcome::kPassed) << "after " << expected.entry << ": " << next.message;
    std::printf("%-22s %.2f s  %s\n", expected.entry, took, verdict.message.c_str());
  }
}

TEST_F(VerdictTest, ATrapAmongSpinningBlocksEndsInTime) {
  const Seconds begin = monotonic_now();
  const Verdict verdict = verify(plan_of("traps_while_spinning"));
  EXPECT_TRUE(verdict.outcome == Outcome::kCrashed || verdict.outcome == Outcome::kHung) << verdict.message;
  EXPECT_LT((monotonic_now() - begin).value, 10);
  EXPECT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
}

// More than the GPU has left, because another process holds the rest: said with figures, and over once it is free.
TEST_F(VerdictTest, NoRoomLeftIsSaid) {
  size_t free_bytes = 0, total = 0;
  ASSERT_EQ(judge_->driver().cuMemGetInfo(&free_bytes, &total), cu::kSuccess);
  {
    auto hog = DeviceBuffer::allocate(judge_->driver(), static_cast<int64_t>(free_bytes) - (int64_t{3} << 30));
    ASSERT_TRUE(hog.ok()) << hog.error().text();
    Plan plan = plan_of("honest");
    plan.buffers.push_back(buffer("t", BufferKind::kWorkspace));
    plan.buffers.back().bytes = int64_t{8} << 30;
    plan.buffers.back().shape = {int64_t{1} << 31};
    const Verdict verdict = verify(plan);
    EXPECT_EQ(verdict.outcome, Outcome::kOutOfMemory) << verdict.message;
    EXPECT_NE(verdict.message.find("are free"), std::string::npos) << verdict.message;
    std::printf("no room: %s\n", verdict.message.c_str());
  }
  EXPECT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
}

TEST_F(VerdictTest, AssumingAZeroedWorkspaceFails) {
  Plan plan = plan_of("trusts_the_workspace");
  plan.buffers.push_back(buffer("t", BufferKind::kWorkspace));
  plan.steps[0].arguments.push_back(pointer("t"));
  EXPECT_EQ(verify(plan).outcome, Outcome::kNanMismatch);
}

TEST_F(VerdictTest, AWrongCubinAndABrokenPlanAreRefused) {
  Plan plan = plan_of("honest");
  plan.modules[0].hash = "0";
  EXPECT_EQ(verify(plan).outcome, Outcome::kLoadFailed);
  const auto path = save(plan_of("honest"));
  ASSERT_TRUE(write_file(path, "{").ok());
  EXPECT_EQ(judge_->verify(path, cases_)->outcome, Outcome::kLoadFailed);
}

TEST_F(VerdictTest, TimedRunsAreCheckedToo) {
  // Verification launches it four times; it stops during the timed ones.
  Verdict verdict = verify(plan_of("stops_after_six"));
  ASSERT_EQ(verdict.outcome, Outcome::kPassed) << verdict.message;
  auto block = judge_->time_block(cases_, 8);
  ASSERT_TRUE(block.ok()) << block.error().text();
  EXPECT_EQ(block->verdict.outcome, Outcome::kNotWritten) << block->verdict.message;
  EXPECT_TRUE(block->seconds.empty());
  EXPECT_FALSE(judge_->time_block(cases_, 1).ok());  // it is out
}

// Even where there is one case only, and repetitions share a workspace.
TEST_F(VerdictTest, NothingIsLeftInTheWorkspaceBetweenTimedRuns) {
  Plan plan = plan_of("remembers");
  plan.buffers.push_back(buffer("t", BufferKind::kWorkspace));
  plan.steps[0].arguments.push_back(pointer("t"));
  ASSERT_EQ(verify(plan).outcome, Outcome::kPassed);
  const auto block = judge_->time_block({cases_[0]}, 10);
  ASSERT_TRUE(block.ok()) << block.error().text();
  EXPECT_EQ(block->verdict.outcome, Outcome::kPassed) << block->verdict.message;
  EXPECT_EQ(block->seconds.size(), 10u);
}

TEST_F(VerdictTest, ReplayedResultsAreWrong) {
  Plan plan = plan_of("honest");
  plan.steps = {step("fill_cache", {pointer("x"), pointer("w"), count()}),
                step("replay_cache", {pointer("y"), count()})};
  EXPECT_EQ(verify(plan).outcome, Outcome::kWrongResult);
}

TEST_F(VerdictTest, ACaseThatDoesNotFitThePlanIsAnError) {
  std::vector<JudgeCase> cases = cases_;
  cases[0].given.erase("w");
  const auto verdict = judge_->verify(save(plan_of("honest")), cases);
  ASSERT_FALSE(verdict.ok());
  EXPECT_NE(verdict.error().message.find("`w`"), std::string::npos);
}

}  // namespace
}  // namespace solstice::run
