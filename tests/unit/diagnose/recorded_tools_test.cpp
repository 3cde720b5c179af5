// Each tool on facts of programs whose defect is known, as they were recorded on an H200.
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/diagnose.h"
#include "unit/diagnose/recorded.h"

namespace solstice::diagnose {
namespace {

const Facts& facts_named(const std::string& program) {
  const auto& all = testing::recorded_facts();
  const auto found = std::find_if(all.begin(), all.end(), [&](const testing::Recorded& each) {
    return each.name.starts_with(program + ".counters.json");
  });
  EXPECT_NE(found, all.end()) << program;
  return found->facts;
}

std::vector<Finding> found_in(const Facts& facts) {
  DiagnoseOptions options;
  options.legal = [](const FindingAction&) { return true; };
  return diagnose(facts, *machine::load_machine(facts.machine), options).findings;
}

const Finding* finding_of(const std::vector<Finding>& all, const std::string& tool) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& each) { return each.tool == tool; });
  return found == all.end() ? nullptr : &*found;
}

// What a program says of itself: the tool, or that it took the tool's finding in.
bool says(const std::vector<Finding>& all, const std::string& tool, const std::string& evidence) {
  return finding_of(all, tool) || std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
           return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                              [&](const Evidence& each) { return each.what.starts_with(evidence); });
         });
}

struct Known {
  const char* tool;
  const char* evidence;
  const char* sick;
  const char* healthy;
};

constexpr Known kKnown[] = {
    {"accuracy to spare", "products for each", "gemm_six_products.sick", "gemm_six_products.healthy"},
    {"bank conflicts", "bank conflicts", "banks_transpose.sick", "banks_transpose.healthy"},
    {"beyond its model", "predicted", "cluster_eight.sick", "banks_transpose.healthy"},
    {"cluster fill", "clusters at once", "cluster_eight.sick", "cluster_eight.healthy"},
    {"divergence", "threads an instruction", "divergence_lanes.sick", "divergence_lanes.healthy"},
    {"double precision", "fp64 instructions", "double_constants.sick", "double_constants.healthy"},
    {"intermediate traffic", "bytes moved", "intermediate_norm.sick", "intermediate_norm.healthy"},
    {"issue bound", "issue slots", "divergence_lanes.sick", "banks_transpose.healthy"},
    {"just beyond L2", "time of its bytes", "intermediate_two_maps.sick", "intermediate_norm.healthy"},
    {"last wave of tiles", "tiles", "gemm_waves.sick", "gemm_waves.healthy"},
    {"loop barriers", "barriers a round", "barriers_neighbour.sick", "barriers_neighbour.healthy"},
    {"no tensor cores", "time on tensor cores", "gemm_simt.sick", "gemm_simt.healthy"},
    {"register spill", "spill stores", "gemm_simt.sick", "gemm_simt.healthy"},
    {"runtime divisors", "divisions of 32 bits", "index_runtime.sick", "index_runtime.healthy"},
    {"shallow pipeline", "latency of loads", "gemm_two_stages.sick", "gemm_two_stages.healthy"},
    {"slow division", "divisions with a slow path", "division_fraction.sick", "division_fraction.healthy"},
    {"small grid", "SMs", "gemm_small_grid.sick", "gemm_small_grid.healthy"},
    {"SM imbalance", "cycles of the busiest SM", "imbalance_triangle.sick", "imbalance_triangle.healthy"},
    {"split pass", "split pass", "gemm_split_each_call.sick", "gemm_split_each_call.healthy"},
};

TEST(RecordedTools, FindWhatIsWrongAndNotWhatWasHealed) {
  for (const Known& each : kKnown) {
    EXPECT_TRUE(says(found_in(facts_named(each.sick)), each.tool, each.evidence)) << each.tool << " in " << each.sick;
    EXPECT_FALSE(says(found_in(facts_named(each.healthy)), each.tool, each.evidence))
        << each.tool << " in " << each.healthy;
  }
}

// A recorded program in which something that its tool looks at is not as it was.
template <typename Edit>
std::vector<Finding> found_after(const char* program, const Edit& edit) {
  Facts facts = facts_named(program);
  edit(facts);
  return found_in(facts);
}

TEST(RecordedTools, NotesOfPtxasOnWgmma) {
  const auto noted = [](const char* text) {
    return [=](Facts& facts) { facts.kernels[0].steps.at(1).notes = {text}; };
  };
  const auto all = found_after("gemm_waves.healthy",
                               noted("(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized "
                                     "due to insufficient register resources for the wgmma pipeline"));
  const Finding* found = finding_of(all, "serialised wgmma");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place.part, "main loop");
  EXPECT_NEAR(found->gain.kernel,
              facts_named("gemm_waves.healthy").kernels[0].measured.value() /
                  *facts_named("gemm_waves.healthy").kernels[0].bound,
              0.01);
  EXPECT_FALSE(finding_of(found_after("gemm_waves.healthy", noted("(C7508) Potential Performance Loss: setmaxnreg")),
                          "serialised wgmma"));
}

TEST(RecordedTools, RegistersNearTheLimit) {
  const auto with = [](int64_t registers, int64_t spilt) {
    return [=](Facts& facts) {
      facts.kernels[0].steps[0].registers = registers;
      facts.kernels[0].steps[0].spill_stores = spilt;
    };
  };
  EXPECT_TRUE(finding_of(found_after("double_constants.healthy", with(240, 0)), "register pressure"));
  EXPECT_FALSE(finding_of(found_after("double_constants.healthy", with(232, 0)), "register pressure"));
  EXPECT_FALSE(finding_of(found_after("double_constants.healthy", with(255, 16)), "register pressure"))
      << "it spills: another tool's";
}

TEST(RecordedTools, AKernelWithoutAFamily) {
  const auto missing = [](Facts& facts) { facts.kernels[0].missing = "a product of three tensors"; };
  const auto all = found_after("gemm_simt.sick", missing);
  ASSERT_TRUE(finding_of(all, "missing family"));
  EXPECT_FALSE(finding_of(all, "no tensor cores")) << "there is no family with them";
  EXPECT_FALSE(finding_of(found_in(facts_named("gemm_simt.sick")), "missing family"));
}

TEST(RecordedTools, LaunchesThatWaitForTheOneBefore) {
  const char* program = "intermediate_two_maps.sick";
  const auto shortened = [](bool pdl) {
    return [=](Facts& facts) {
      // A tenth of each time: a launch then is a matter of percents.
      facts.measured = Seconds(facts.measured->value / 10);
      facts.bounds = {};
      for (TimelineEntry& entry : facts.timeline) entry = {entry.step, entry.start / 10.0, entry.end / 10.0};
      for (KernelSheet& kernel : facts.kernels) {
        kernel.measured = *kernel.measured / 10.0;
        for (StepFacts& step : kernel.steps) step.pdl = pdl;
      }
    };
  };
  EXPECT_TRUE(says(found_after(program, shortened(false)), "no overlap", "launches that do not overlap"));
  EXPECT_FALSE(says(found_after(program, shortened(true)), "no overlap", "launches that do not overlap"));
  EXPECT_FALSE(says(found_in(facts_named(program)), "no overlap", "launches that do not overlap")) << "long kernels";
}

// Passes around the product move bytes of their own.
TEST(RecordedTools, ASplitPassIsNoSecondRead) {
  EXPECT_FALSE(finding_of(found_in(facts_named("gemm_split_each_call.healthy")), "reads again"));
  for (const char* program : {"gemm_two_stages.healthy", "gemm_six_products.healthy", "gemm_waves.healthy"}) {
    for (const Finding& finding : found_in(facts_named(program)))
      EXPECT_LT(finding.severity, FindingSeverity::kHigh) << program << ": " << finding.tool;
  }
}

}  // namespace
}  // namespace solstice::diagnose
