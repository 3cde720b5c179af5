#include "evaluate/by_kernel.h"

#include <gtest/gtest.h>

#include "evaluate/lower.h"
#include "evaluate/preparation.h"
#include "families/emission.h"
#include "machine/machine.h"

namespace solstice::evaluate {
namespace {

Step step_of(const std::string& name, StepKind kind, Phase phase = Phase::kLaunch) {
  Step out;
  out.name = name;
  out.kind = kind;
  out.phase = phase;
  if (kind == StepKind::kLaunch) out.entry = "solstice_" + name;
  return out;
}

// Two kernels: a memset, two launches; one launch. Something runs at load, a state is updated.
Plan plan() {
  Plan out;
  out.steps = {step_of("up-pack_b", StepKind::kLaunch, Phase::kPrepare),
               step_of("up-clear", StepKind::kMemset),
               step_of("up", StepKind::kLaunch),
               step_of("up-fold", StepKind::kLaunch),
               step_of("down", StepKind::kLaunch),
               step_of("update.s", StepKind::kCopy)};
  return out;
}

run::TimedBlock block() {
  run::TimedBlock out;
  out.activities = {"memset", "solstice_up", "solstice_up-fold", "solstice_down", "memcpy"};
  out.activity_seconds = {
      {1e-6, 10e-6, 2e-6, 5e-6, 1e-6}, {1e-6, 30e-6, 2e-6, 7e-6, 1e-6}, {1e-6, 12e-6, 2e-6, 6e-6, 1e-6}};
  out.seconds = {20e-6, 42e-6, 23e-6};
  return out;
}

Json costs() {
  return Json::array()
      .push(Json::object().set("kernel", "up").set("seconds", 14e-6))
      .push(Json::object().set("kernel", "down").set("seconds", 3e-6));
}

TEST(ByKernel, StepsAreSummedUpByKernel) {
  EXPECT_EQ(steps_of_call(plan()), 5);
  const auto found = by_kernel(plan(), block(), costs());
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(text_of(*found),
            "kernel `up` 15 us (predicted 14 us; `up-clear` 1 us, `up` 12 us, `up-fold` 2 us), `down` 6 us (predicted "
            "3 us), `update.s` "
            "1 us: `down` is 2.0x beyond its model");
}

// Kernels of one entry: `by cuda` twice from one source.
TEST(ByKernel, EqualNamesRunInTheOrderOfThePlan) {
  Plan twice;
  twice.steps = {step_of("first", StepKind::kLaunch), step_of("second", StepKind::kLaunch)};
  for (Step& step : twice.steps) step.entry = "same";
  run::TimedBlock traced;
  traced.activities = {"same", "same"};
  traced.activity_seconds = {{1e-6, 2e-6}};
  traced.seconds = {3e-6};
  const auto found = by_kernel(twice, traced, Json::array());
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(text_of(*found), "kernel `first` 1 us, `second` 2 us");
}

TEST(ByKernel, ATraceOfSomethingElseIsRefused) {
  const auto why = [](const run::TimedBlock& traced) {
    const auto found = by_kernel(plan(), traced, costs());
    return found.ok() ? "" : found.error().message;
  };
  run::TimedBlock other = block();
  other.activities[3] = "elementwise_kernel";
  EXPECT_EQ(why(other), "the trace has `elementwise_kernel` more often than the plan");
  other = block();
  other.activities.pop_back();
  EXPECT_EQ(why(other), "step `update.s` of the plan is not in the trace");
  other = block();
  other.activity_seconds[1].pop_back();
  EXPECT_EQ(why(other), "the trace does not have a time of every activity in every repetition");
  other = block();
  other.activity_seconds.clear();
  EXPECT_EQ(why(other), "the trace does not have a time of every activity in every repetition");
}

// What families emit: every step of a call is one of the program's kernels, which the costs name too.
TEST(ByKernel, StepsOfFamiliesBelongToKernels) {
  const auto h200 = machine::load_machine("h200");
  ASSERT_TRUE(h200.ok());
  const Setting setting{.machine = *h200};
  const std::string text = R"(program names
dim N = 256
def product(a : f32[N, N]) -> z : f32[N, N] {
  kernel split by gemm(math=fp16x3, stream=none, tile=128x128) {
    z[m,n] = sum[k](a[m,k] * a[n,k])
  }
}
input a : f32[N, N]
tensor t : f32[N, N]
output y : f32[N]
t = product(a) at "up-down"
kernel total by reduce() {
  y[n] = sum[m](t[m,n])
}
)";
  Preparation candidate(text, setting, nullptr);
  ASSERT_FALSE(candidate.refused()) << candidate.why();
  const Json costs_of_it = candidate.record().at("costs");
  const auto lowered = lower_text(text, setting);
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  run::TimedBlock traced;
  for (const Step& step : lowered->plan.steps) {
    traced.activities.push_back(step.kind == StepKind::kLaunch   ? step.entry
                                : step.kind == StepKind::kMemset ? "memset"
                                                                 : "memcpy");
  }
  traced.activity_seconds = {std::vector<double>(traced.activities.size(), 1e-6)};
  traced.seconds = {1e-5};
  const auto found = by_kernel(lowered->plan, traced, costs_of_it);
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->kernels.size(), 2u);
  EXPECT_EQ(found->kernels[0].kernel, "up-down.split");
  EXPECT_GT(found->kernels[0].steps.size(), 1u);
  EXPECT_EQ(found->kernels[1].kernel, "total");
  for (const TracedKernel& kernel : found->kernels) EXPECT_TRUE(kernel.predicted) << kernel.kernel;
}

TEST(ByKernel, AnInstancesNameMayHoldADash) {
  EXPECT_EQ(families::kernel_of_step("up"), "up");
  EXPECT_EQ(families::kernel_of_step("up-split"), "up");
  EXPECT_EQ(families::kernel_of_step("a-b.up"), "a-b.up");
  EXPECT_EQ(families::kernel_of_step("a-b.up-split"), "a-b.up");
  EXPECT_EQ(families::kernel_of_step("update.s"), "update.s");
}

TEST(ByKernel, WhatSaysNothingOfResultsIsTheTracesFault) {
  Verdict verdict;
  for (const Outcome outcome : {Outcome::kCrashed, Outcome::kHung, Outcome::kLoadFailed, Outcome::kOutOfMemory}) {
    verdict.outcome = outcome;
    EXPECT_TRUE(only_tracing_failed(verdict));
  }
  for (const Outcome outcome :
       {Outcome::kWrongResult, Outcome::kRedZone, Outcome::kWroteInput, Outcome::kNotWritten, Outcome::kNanMismatch}) {
    verdict.outcome = outcome;
    EXPECT_FALSE(only_tracing_failed(verdict));
  }
}

}  // namespace
}  // namespace solstice::evaluate
