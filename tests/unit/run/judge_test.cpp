// The parts of the judge that need no GPU.
#include "run/judge.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/paths.h"
#include "record/verdict.h"
#include "run/candidate_run.h"

namespace solstice::run {
namespace {

TEST(ScaleRows, CoverTheInnermostDimensionsUpTo64Elements) {
  EXPECT_EQ(scale_rows({128, 1024}).row, 1024);
  EXPECT_EQ(scale_rows({128, 16, 8}).row, 128);
  EXPECT_EQ(scale_rows({128, 1}).row, 128);
  EXPECT_EQ(scale_rows({3}).row, 3);
  EXPECT_EQ(scale_rows({}).row, 1);
}

TEST(ScaleRows, LongRowsAreCutIntoEvenRuns) {
  const ScaleRows rows = scale_rows({4, 100000});
  EXPECT_EQ(rows.runs_a_row, 2);
  EXPECT_EQ(rows.run, 50000);
  EXPECT_EQ(scale_rows({65536}).runs_a_row, 1);
}

TEST(DeviceTensor, DenseMeansRowMajorWithoutGaps) {
  EXPECT_TRUE((DeviceTensor{0, DType::kF32, {2, 3}, {3, 1}, 24}).dense());
  EXPECT_TRUE((DeviceTensor{0, DType::kF32, {2, 1, 3}, {3, 99, 1}, 24}).dense());
  EXPECT_FALSE((DeviceTensor{0, DType::kF32, {2, 3}, {1, 2}, 24}).dense());
  EXPECT_FALSE((DeviceTensor{0, DType::kF32, {2, 3}, {4, 1}, 28}).dense());
}

TEST(Finding, ErrorsOfTheCandidateAreToldFromTheMachines) {
  EXPECT_EQ(finding_of(fail(Code::deadline, ""), false)->outcome, Outcome::kHung);
  EXPECT_EQ(finding_of(fail(Code::cuda_error, ""), false)->outcome, Outcome::kCrashed);
  EXPECT_EQ(finding_of(fail(Code::cuda_error, ""), true)->outcome, Outcome::kLoadFailed);
  EXPECT_EQ(finding_of(fail(Code::process_failed, ""), false)->outcome, Outcome::kCrashed);
  EXPECT_EQ(finding_of(fail(Code::too_large, ""), true)->outcome, Outcome::kOutOfMemory);
  EXPECT_FALSE(finding_of(fail(Code::no_gpu, ""), true).has_value());
  EXPECT_FALSE(finding_of(fail(Code::disk_full, ""), true).has_value());
}

TEST(VerdictRecord, SurvivesJson) {
  Verdict verdict;
  verdict.outcome = Outcome::kRedZone;
  verdict.message = "stray";
  CaseVerdict one;
  one.name = "seed 1";
  one.outputs.emplace_back();
  one.outputs[0].output = "y";
  one.outputs[0].pytorch_normwise = 1e-7;
  verdict.cases = {one};
  verdict.sandbox = Json::array();
  const auto back = from_json<Verdict>(to_json(verdict));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), to_json(verdict));
  EXPECT_EQ(to_json(verdict).at("outcome").as_string(), "red_zone");
}

TEST(Judge, WithoutADriverSaysSo) {
  if (rt::cuda_driver().ok()) GTEST_SKIP() << "this machine has a CUDA driver";
  const auto judge = Judge::start({});
  ASSERT_FALSE(judge.ok());
  EXPECT_TRUE(judge.error().code == Code::no_driver || judge.error().code == Code::no_gpu);
}

TEST(RunnerProcess, AnswersForItself) {
  const auto program = companion("solstice-runner");
  if (!program.ok()) GTEST_SKIP() << program.error().message;
  auto runner = RunnerProcess::spawn({.program = *program});
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  const auto hello = runner->hello();
  if (rt::cuda_driver().ok()) {
    EXPECT_TRUE(hello.ok());
  } else {
    EXPECT_TRUE(hello.error().code == Code::no_driver || hello.error().code == Code::no_gpu) << hello.error().text();
  }
}

TEST(RunnerProcess, AProcessThatTalksNonsenseIsAnError) {
  // `cat` answers with the request itself, which holds neither result nor error.
  auto runner = RunnerProcess::spawn({.program = "/bin/cat", .start_limit = Seconds(2)});
  ASSERT_TRUE(runner.ok());
  const auto hello = runner->hello();
  ASSERT_FALSE(hello.ok());
}

}  // namespace
}  // namespace solstice::run
