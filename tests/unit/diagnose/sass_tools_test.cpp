#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "diagnose/diagnose.h"

namespace solstice::diagnose {
namespace {

// A kernel of 4 ms whose equations need 1 ms of `resource`; its machine code is one loop of 100 instructions.
Facts coded(const std::string& resource, const std::function<void(SassMix&, SassFacts&)>& edit) {
  Facts out;
  out.machine = "h200";
  KernelSheet kernel;
  kernel.kernel = "k";
  kernel.family = "cuda";
  kernel.needs = {{resource, "", "B", 4e9, Seconds(1e-3)}};
  kernel.tensors = {{"x", "input", "f32", false, Bytes(2e9)}, {"y", "output", "f32", true, Bytes(2e9)}};
  kernel.bound = Seconds(1e-3);
  kernel.measured = out.measured = Seconds(4e-3);
  SassLoop loop;
  loop.does = "compute";
  loop.mix.instructions = loop.mix.issue_cycles = 100;
  SassFacts sass;
  edit(loop.mix, sass);
  sass.mix.instructions = 300;
  sass.loops = {loop};
  StepFacts step;
  step.step = "k";
  step.entry = "solstice_k";
  step.sass = sass;
  kernel.steps = {step};
  out.kernels = {kernel};
  for (const char* name : {"plan", "trace", "sass"}) out.sources.push_back({name, true});
  return out;
}

std::optional<Finding> found_in_code(const Facts& facts, const std::string& tool) {
  for (const Finding& finding : diagnose(facts, *machine::load_machine("h200")).findings) {
    if (finding.tool == tool) return finding;
  }
  return std::nullopt;
}

struct CodeCase {
  const char* tool;
  const char* resource;
  std::function<void(SassMix&, SassFacts&)> sick, healthy;
  double gain;
};

std::vector<CodeCase> code_cases() {
  const auto access = [](bool store, int bits) {
    return [=](SassMix& mix, SassFacts&) { mix.accesses = {{"global", store, bits, 4}}; };
  };
  const auto count = [](const char* kind, int64_t number) {
    return [=](SassMix& mix, SassFacts&) { mix.counts[kind] = number; };
  };
  return {
      {"narrow loads", "dram", access(false, 32), access(false, 128), 4},
      {"narrow stores", "dram", access(true, 16), access(true, 64), 4},
      {"slow division", "simt.f32", [](SassMix& mix, SassFacts&) { mix.calls["division f32"] = 5; },
       [](SassMix& mix, SassFacts&) { mix.calls["function"] = 5; }, 85 / 45.0},
      {"runtime divisors", "dram",
       [](SassMix& mix, SassFacts&) {
         mix.calls["division s64"] = 1;
         mix.named["I2F.RP"] = 2;
       },
       [](SassMix& mix, SassFacts&) { mix.calls["division f32"] = 1; }, 100 / 48.0},
      {"double precision", "dram",
       [](SassMix& mix, SassFacts&) {
         mix.counts["fp64"] = mix.pipes["fp64"] = 25;
         mix.pipes["xu"] = 20;
         mix.named["F2F.F64.F32"] = mix.named["F2F.F32.F64"] = 10;
       },
       count("fp32", 25), 2},
      {"index arithmetic", "simt.f32", count("address", 75), count("address", 20), 4},
      {"special functions", "dram", [](SassMix& mix, SassFacts&) { mix.counts["mufu"] = mix.pipes["xu"] = 25; },
       count("mufu", 2), 200 / 75.0},
      {"loop barriers", "dram", [](SassMix& mix, SassFacts&) { mix.named["BAR.SYNC"] = 2; },
       [](SassMix&, SassFacts&) {}, 4},
      {"spill in the loop", "dram",
       [](SassMix& mix, SassFacts&) {
         mix.accesses = {{"local", true, 32, 5}, {"local", false, 32, 5}};
       },
       [](SassMix&, SassFacts& sass) {
         sass.mix.accesses = {{"local", true, 32, 5}};
       },
       4},
      {"drained wgmma", "tensor.f16",
       [](SassMix&, SassFacts& sass) {
         sass.drained_wgmma = {{16, "k.cu", 7}};
       },
       [](SassMix&, SassFacts&) {}, 4},
      {"no wgmma", "tensor.f16", [](SassMix&, SassFacts& sass) { sass.mix.counts["mma"] = 8; },
       [](SassMix&, SassFacts& sass) { sass.mix.counts["wgmma"] = 8; }, 4},
  };
}

TEST(SassTools, FindTheSickAndLeaveTheHealthy) {
  for (const CodeCase& each : code_cases()) {
    const auto sick = found_in_code(coded(each.resource, each.sick), each.tool);
    ASSERT_TRUE(sick) << each.tool;
    EXPECT_NEAR(sick->gain.program, each.gain, 0.01 * each.gain) << each.tool << ": " << sick->gain.because;
    EXPECT_FALSE(found_in_code(coded(each.resource, each.healthy), each.tool)) << each.tool;
  }
}

TEST(SassTools, RootsThatNobodyAskedForAreSpecialFunctions) {
  Facts facts = coded("dram", [](SassMix& mix, SassFacts&) {
    mix.calls["sqrt f32"] = 5;
    mix.counts["mufu"] = mix.pipes["xu"] = 5;
  });
  EXPECT_TRUE(found_in_code(facts, "special functions"));
  EXPECT_FALSE(found_in_code(facts, "slow division"));
  facts.kernels[0].needs.push_back({"sfu", "", "op", 1e6, Seconds(1e-6)});
  EXPECT_FALSE(found_in_code(facts, "special functions"));
  EXPECT_TRUE(found_in_code(facts, "slow division"));
}

TEST(SassTools, NarrowStoresAreSoughtInTheLoopThatStores) {
  Facts facts = coded("dram", [](SassMix& mix, SassFacts&) { mix.accesses = {{"global", false, 128, 4}}; });
  SassLoop storing;
  storing.does = "store";
  storing.mix.instructions = 10;
  storing.mix.accesses = {{"global", true, 32, 1}};
  facts.kernels[0].steps[0].sass->loops.push_back(storing);
  EXPECT_TRUE(found_in_code(facts, "narrow stores"));
  // One store a thread, next to loops without any, costs nothing.
  facts.kernels[0].steps[0].sass->loops.pop_back();
  facts.kernels[0].steps[0].sass->mix.accesses = {{"global", true, 32, 1}};
  EXPECT_FALSE(found_in_code(facts, "narrow stores"));
}

TEST(SassTools, ManyNarrowLoadsInFlightAreEnough) {
  Facts facts = coded("dram", [](SassMix& mix, SassFacts&) { mix.accesses = {{"global", false, 32, 1}}; });
  StepFacts& step = facts.kernels[0].steps[0];
  step.grid = {132 * 8, 1, 1};
  step.block = {256, 1, 1};
  const auto few = found_in_code(facts, "narrow loads");
  ASSERT_TRUE(few);                        // 64 warps with 128 bytes each: 8 KiB an SM
  EXPECT_NEAR(few->gain.kernel, 4, 0.02);  // which hide no latency, and may be four times as many
  step.sass->loops[0].mix.accesses[0].count = 4;
  step.sass->loops[0].mix.instructions = 300;
  EXPECT_FALSE(found_in_code(facts, "narrow loads"));
}

TEST(SassTools, TheHotCodeIsTheInnermostLoopThatWorks) {
  Facts facts = coded("dram", [](SassMix&, SassFacts&) {});
  StepFacts& step = facts.kernels[0].steps[0];
  SassLoop inner, polling;
  inner.parent = 0;
  inner.does = "load";
  inner.mix.instructions = 40;
  polling.parent = 1;
  polling.does = "wait";
  polling.mix.instructions = 4;
  step.sass->loops.push_back(inner);
  step.sass->loops.push_back(polling);
  EXPECT_EQ(hot_code(step)->instructions, 40);
  step.sass->loops.clear();
  EXPECT_EQ(hot_code(step)->instructions, 300);
  step.sass.reset();
  EXPECT_FALSE(hot_code(step));
}

}  // namespace
}  // namespace solstice::diagnose
