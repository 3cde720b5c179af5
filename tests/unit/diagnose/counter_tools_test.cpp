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
  step.grid = {132 * 8, 1, 1};
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
  const char* cycles = "sm__cycles_active.avg";
  constexpr double kSms = 132;
  const char* plain = "l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum";
  return {
      {"uncoalesced access", {{loads, 8}}, {{loads, 4}}, {}, {}, 2},
      {"bank conflicts",
       {{conflicts, 50 * kSms}, {wavefronts, 100 * kSms}, {cycles, 100}},
       {{conflicts, kSms}, {wavefronts, 100 * kSms}, {cycles, 100}},
       {},
       {},
       2},
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
       {{plain, 1.25e8}, {"lts__t_sectors.sum", 1.875e8}},
       {{plain, 6.25e7}, {"lts__t_sectors.sum", 1.875e8}},
       {},
       {},
       2},
      {"atomics",
       {{"lts__t_sectors_op_atom.sum", 20}, {"lts__t_sectors_op_red.sum", 30}, {"lts__t_sectors.sum", 100}},
       {{"lts__t_sectors_op_atom.sum", 0}, {"lts__t_sectors_op_red.sum", 0}, {"lts__t_sectors.sum", 100}},
       {{"lg_throttle", 0.5}, {"wait", 0.5}},
       {},
       4},
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

// What was counted is so whatever unit the equations keep busy.
TEST(CounterTools, DirectEvidenceIsLookedAtInKernelsOfEveryClass) {
  const char* loads = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
  for (const char* resource : {"dram", "tensor.f16", "simt.f32", "sfu"}) {
    Facts facts = counted({{loads, 32}});
    facts.kernels[0].needs[0].resource = resource;
    EXPECT_TRUE(found(facts, "uncoalesced access")) << resource;
  }
}

// Sectors of the other direction stay.
TEST(CounterTools, ScatteredStoresOfAFewResultsGainLittle) {
  const char* stores = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
  const char* of_loads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
  const char* of_stores = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
  const auto half = found(counted({{stores, 32}, {of_loads, 1e6}, {of_stores, 1e6}}), "uncoalesced access");
  ASSERT_TRUE(half);
  EXPECT_NEAR(half->gain.program, 1 / (1 - 0.5 * 28 / 32), 0.001);
  EXPECT_FALSE(found(counted({{stores, 32}, {of_loads, 1e6}, {of_stores, 1e3}}), "uncoalesced access"));
}

TEST(CounterTools, PartialWritesOfASmallResultAreNothing) {
  Facts facts = counted({{"lts__t_sectors_op_write.sum", 1e6}, {"lts__t_sectors.sum", 1.3e8}});
  facts.kernels[0].tensors[1].bytes = Bytes(3.2e6);
  EXPECT_FALSE(found(facts, "partial writes"));
}

TEST(CounterTools, TheWidestAccessSaysHowManySectorsAreNoWaste) {
  Facts facts = counted({{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 14}});
  SassFacts sass;
  sass.mix.instructions = 100;
  sass.mix.accesses = {{"global", false, 32, 5}, {"global", false, 128, 5}};
  facts.kernels[0].steps[0].sass = sass;
  EXPECT_FALSE(found(facts, "uncoalesced access"));
  facts.kernels[0].steps[0].counters->metrics.begin()->second = 32;
  EXPECT_TRUE(found(facts, "uncoalesced access"));
}

TEST(CounterTools, SaturatedMemoryGainsByFewerBytesAlone) {
  const auto saturated = found(counted({{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 0.88},
                                        {"dram__bytes_read.sum", 2.2e9},
                                        {"dram__bytes_write.sum", 2e9}}),
                               "memory saturated");
  ASSERT_TRUE(saturated);
  EXPECT_NEAR(saturated->gain.program, 1.05, 0.001);
}

TEST(CounterTools, WhatFitsL2IsReadFromMemoryOnce) {
  Facts facts = counted({{"dram__bytes_read.sum", 4e9}});
  EXPECT_FALSE(found(facts, "L2 thrashing"));  // as large as that
  for (TensorFacts& tensor : facts.kernels[0].tensors) tensor.bytes = Bytes(2e7);
  EXPECT_TRUE(found(facts, "L2 thrashing"));
  facts.kernels[0].steps[0].counters->metrics["dram__bytes_read.sum"] = 2.1e7;
  EXPECT_FALSE(found(facts, "L2 thrashing"));
}

TEST(CounterTools, TensorCoresThatAreIdle) {
  Facts facts = counted({{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0.5}});
  facts.kernels[0].family = "gemm";
  facts.kernels[0].needs = {{"tensor.f16", "fp16", "FLOP", 1e12, Seconds(1e-3)}};
  facts.sources.push_back({"sass", true});
  EXPECT_FALSE(found(facts, "tensor cores fed slowly"));  // it has no products
  facts.kernels[0].steps[0].sass = SassFacts{};
  facts.kernels[0].steps[0].sass->mix.counts["wgmma"] = 8;
  const auto hungry = found(facts, "tensor cores fed slowly");
  ASSERT_TRUE(hungry);
  EXPECT_NEAR(hungry->gain.program, 2, 0.01);
  EXPECT_EQ(hungry->severity, FindingSeverity::kMedium);
}

TEST(CounterTools, ClocksAreThoseOfTheCyclesElseOfNvml) {
  Facts facts = counted({{"sm__cycles_elapsed.max", 1.584e6}, {"gpu__time_duration.sum", 1e-3}});
  facts.kernels[0].family = "gemm";
  facts.kernels[0].needs = {{"tensor.f16", "fp16", "FLOP", 1e12, Seconds(1e-3)}};
  const auto by_cycles = found(facts, "lowered clocks");
  ASSERT_TRUE(by_cycles);
  EXPECT_NEAR(by_cycles->gain.program, 1.25, 0.001);
  facts.kernels[0].steps[0].counters.reset();
  EXPECT_FALSE(found(facts, "lowered clocks"));
  facts.clocks = ClockReading{.sm_mhz = 1584, .watts = 700};
  EXPECT_TRUE(found(facts, "lowered clocks"));
  facts.clocks->sm_mhz = 1950;
  EXPECT_FALSE(found(facts, "lowered clocks"));
  facts.clocks->sm_mhz = 0;  // NVML did not answer
  EXPECT_FALSE(found(facts, "lowered clocks"));
}

TEST(CounterTools, ASourceThatIsNotThereIsNoHealth) {
  Facts facts = counted({});
  facts.sources.back().there = false;
  const Diagnosis diagnosis = diagnose(facts, *machine::load_machine("h200"));
  for (const Case& each : cases()) {
    if (std::string(each.tool) == "reads again") continue;  // which the cost model answers as well
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
