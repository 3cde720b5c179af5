#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/diagnose.h"

namespace solstice::diagnose {
namespace {

// A kernel of 4 ms whose equations need 1 ms of memory, with these counters.
Facts counted(std::map<std::string, double> metrics, std::map<std::string, double> stalls = {}) {
  Facts out;
  out.machine = "h200";
  KernelSheet kernel;
  kernel.kernel = "k";
  kernel.family = "map";
  kernel.needs = {{"dram", "", "B", 4e9, Seconds(1e-3)}};
  kernel.tensors = {{"x", "input", "f32", false, Bytes(2e9)}, {"y", "output", "f32", true, Bytes(2e9)}};
  kernel.bound = Seconds(1e-3);
  kernel.measured = out.measured = Seconds(4e-3);
  StepFacts step;
  step.step = "k";
  step.entry = "solstice_k";
  step.measured = Seconds(4e-3);
  step.counters = CounterFacts{std::move(metrics), std::move(stalls)};
  kernel.steps = {step};
  out.kernels = {kernel};
  for (const char* name : {"plan", "trace", "counters"}) out.sources.push_back({name, true});
  return out;
}

std::optional<Finding> found(const Facts& facts, const std::string& tool) {
  for (const Finding& finding : diagnose(facts, *machine::load_machine("h200")).findings) {
    if (finding.tool == tool) return finding;
  }
  return std::nullopt;
}

struct Case {
  const char* tool;
  std::map<std::string, double> sick, healthy;
  std::map<std::string, double> sick_stalls = {}, healthy_stalls = {};
  double gain = 1;
};

std::vector<Case> cases() {
  const char* loads = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
  const char* conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
  const char* wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
  return {
      {"uncoalesced access", {{loads, 8}}, {{loads, 4}}, {}, {}, 2},
      {"bank conflicts", {{conflicts, 50}, {wavefronts, 100}}, {{conflicts, 1}, {wavefronts, 100}}, {}, {}, 2},
      {"reads again",
       {{"dram__bytes_read.sum", 6e9}, {"dram__bytes_write.sum", 2e9}},
       {{"dram__bytes_read.sum", 4e9}},
       {},
       {},
       2},
      {"memory saturated",
       {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 0.88}},
       {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 0.5}},
       {},
       {},
       4},
      {"warp stall", {}, {}, {{"long_scoreboard", 0.5}}, {{"long_scoreboard", 0.3}, {"selected", 0.3}}, 2},
      {"barrier stall", {}, {}, {{"barrier", 0.5}}, {{"barrier", 0.1}}, 2},
      {"SM imbalance",
       {{"sm__cycles_active.avg", 50}, {"sm__cycles_active.max", 100}},
       {{"sm__cycles_active.avg", 95}, {"sm__cycles_active.max", 100}},
       {},
       {},
       2},
      {"partial writes",
       {{"lts__t_sectors_op_write.sum", 1.25e8}},
       {{"lts__t_sectors_op_write.sum", 6.25e7}},
       {},
       {},
       2},
      {"atomics",
       {{"lts__t_sectors_op_atom.sum", 50}, {"lts__t_sectors.sum", 100}},
       {{"lts__t_sectors.sum", 100}},
       {},
       {},
       2},
  };
}

TEST(CounterTools, FindTheSickAndLeaveTheHealthy) {
  for (const Case& each : cases()) {
    const auto sick = found(counted(each.sick, each.sick_stalls), each.tool);
    ASSERT_TRUE(sick) << each.tool;
    EXPECT_NEAR(sick->gain.program, each.gain, 0.01) << each.tool << ": " << sick->gain.because;
    EXPECT_FALSE(found(counted(each.healthy, each.healthy_stalls), each.tool)) << each.tool;
  }
}

TEST(CounterTools, ASourceThatIsNotThereIsNoHealth) {
  Facts facts = counted({});
  facts.sources.back().there = false;
  const Diagnosis diagnosis = diagnose(facts, *machine::load_machine("h200"));
  for (const Case& each : cases()) {
    EXPECT_TRUE(std::any_of(diagnosis.open.begin(), diagnosis.open.end(), [&](const OpenQuestion& open) {
      return open.tool == each.tool;
    })) << each.tool;
  }
}

TEST(Classes, TheAnalyticOneWinsAndBothNumbersAreShown) {
  const Facts facts = counted({{"smsp__issue_active.avg.pct_of_peak_sustained_active", 0.9}});
  const Classified found = classify(facts.kernels[0], *machine::load_machine("h200"));
  EXPECT_EQ(found.of(), Class::kDram);
  EXPECT_EQ(found.measured, Class::kIssue);
  EXPECT_NE(found.conflict.find("90 %"), std::string::npos);
}

}  // namespace
}  // namespace solstice::diagnose
