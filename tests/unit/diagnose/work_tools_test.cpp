// Tools that decide by the plan: tiles, stages, products, tensors between kernels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "diagnose/diagnose.h"
#include "diagnose/occupancy.h"

namespace solstice::diagnose {
namespace {

machine::Machine h200_of_tiles() { return *machine::load_machine("h200"); }

// A product of tiles on all SMs, ten times as long as its bound.
Facts product(int64_t m, int64_t n, int64_t k, std::map<std::string, std::string> knobs) {
  Facts out;
  out.machine = "h200";
  out.numerics = "reference";
  out.program = fmt::format(
      "program p\ndim M = {}, K = {}, N = {}\ninput x : f32[M, K]\nparam w : f32[N, K]\noutput y : f32[M, N]\n"
      "kernel k by gemm() {{\n  y[m,n] = sum[k](x[m,k] * w[n,k])\n}}\n",
      m, k, n);
  KernelSheet kernel;
  kernel.kernel = "k";
  kernel.family = "gemm";
  kernel.math = knobs.contains("math") ? knobs["math"] : "fp16x3";
  kernel.knobs = std::move(knobs);
  const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  kernel.needs = {{"tensor.f16", "fp16x3", "FLOP", operations, Seconds(1e-4)}};
  kernel.tensors = {{"x", "input", "f32", false, Bytes(4.0 * static_cast<double>(m * k))},
                    {"w", "param", "f32", false, Bytes(4.0 * static_cast<double>(n * k))},
                    {"y", "output", "f32", true, Bytes(4.0 * static_cast<double>(m * n))}};
  kernel.bound = Seconds(1e-4);
  kernel.measured = out.measured = Seconds(1e-3);
  StepFacts step;
  step.step = "k";
  step.entry = "solstice_k";
  step.grid = {132, 1, 1};
  step.block = {384, 1, 1};
  step.registers = 168;
  step.shared_bytes = 200 << 10;
  step.measured = Seconds(1e-3);
  step.occupancy = occupancy_of(h200_of_tiles(), *needs_of(step));
  kernel.steps = {step};
  out.kernels = {kernel};
  for (const char* name : {"ptxas", "sass", "plan", "trace"}) out.sources.push_back({name, true});
  return out;
}

std::optional<Finding> found_of(const Facts& facts, const std::string& tool) {
  DiagnoseOptions options;
  options.legal = [](const FindingAction&) { return true; };
  for (const Finding& finding : diagnose(facts, h200_of_tiles(), options).findings) {
    if (finding.tool == tool) return finding;
  }
  return std::nullopt;
}

TEST(WorkTools, TilesOfALastWave) {
  const auto found =
      found_of(product(1536, 1536, 8192, {{"tile", "128x128x64"}, {"split", "1"}}), "last wave of tiles");
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->gain.program, 2 / (144 / 132.0), 0.001);
  EXPECT_EQ(found->actions[0].knobs.at("split"), "11");
  EXPECT_FALSE(found_of(product(1536, 1536, 8192, {{"tile", "128x128x64"}, {"split", "11"}}), "last wave of tiles"));
  EXPECT_FALSE(found_of(product(1536, 1408, 8192, {{"tile", "128x128x64"}, {"split", "1"}}), "last wave of tiles"));
}

TEST(WorkTools, TilesOfAProgramThatCannotBeReadAreNotKnown) {
  Facts facts = product(1536, 1536, 8192, {{"tile", "128x128x64"}, {"split", "1"}});
  facts.program = "program p\nkernel {";
  EXPECT_FALSE(found_of(facts, "last wave of tiles"));
  facts = product(1536, 1536, 8192, {{"tile", "large"}, {"split", "1"}});
  EXPECT_FALSE(found_of(facts, "last wave of tiles"));
}

TEST(WorkTools, StagesThatDoNotCoverTheLatency) {
  const auto found = found_of(product(8192, 8192, 8192, {{"tile", "128x64x64"}, {"stages", "2"}}), "shallow pipeline");
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->gain.kernel, (0.89 + 0.5345) / 2 / 0.5345, 0.01);
  EXPECT_EQ(found->place.part, "main loop");
  EXPECT_FALSE(found_of(product(8192, 8192, 8192, {{"tile", "128x64x64"}, {"stages", "4"}}), "shallow pipeline"));
  EXPECT_FALSE(found_of(product(8192, 8192, 8192, {{"tile", "128x256x64"}, {"stages", "2"}}), "shallow pipeline"));
}

TEST(WorkTools, ShallowStagesNameTheNextNumberThatFits) {
  Facts facts = product(8192, 8192, 8192, {{"tile", "128x64x64"}, {"stages", "2"}});
  facts.kernels[0].steps[0].shared_bytes = 128 << 10;
  EXPECT_EQ(found_of(facts, "shallow pipeline")->actions[0].knobs.at("stages"), "3");
  facts.kernels[0].steps[0].shared_bytes = 200 << 10;
  EXPECT_EQ(found_of(facts, "shallow pipeline")->actions[0].kind, ActionKind::kText);
}

TEST(WorkTools, StagesThatKeepABlockAway) {
  Facts facts = product(8192, 8192, 8192, {{"tile", "128x64x64"}, {"stages", "8"}});
  StepFacts& step = facts.kernels[0].steps[0];
  step.block = {128, 1, 1};
  step.registers = 128;
  step.occupancy = occupancy_of(h200_of_tiles(), *needs_of(step));
  ASSERT_EQ(step.occupancy->blocks_per_sm, 1);
  const auto found = found_of(facts, "deep pipeline");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->actions[0].knobs.at("stages"), "3");
  step.block = {384, 1, 1};  // whose registers leave no room for a second block
  step.registers = 168;
  EXPECT_FALSE(found_of(facts, "deep pipeline"));
}

TEST(WorkTools, ProductsBeyondTheEdgesAndUnderAMask) {
  const std::map<std::string, std::string> knobs = {{"tile", "128x128x64"}, {"split", "1"}};
  const auto padded = found_of(product(192, 8192, 8192, knobs), "padded tiles");
  ASSERT_TRUE(padded);
  EXPECT_NEAR(padded->gain.program, 4.0 / 3, 0.001);
  EXPECT_EQ(padded->actions[0].knobs.at("tile"), "64x128x64");
  EXPECT_FALSE(found_of(product(8192, 8192, 8192, knobs), "padded tiles"));
  Facts masked = product(8192, 8192, 8192, knobs);
  masked.kernels[0].needs[0].amount /= 2;
  EXPECT_NEAR(found_of(masked, "padded tiles")->gain.program, 2, 0.001);
}

TEST(WorkTools, InstructionsAroundTheProducts) {
  Facts facts = product(8192, 8192, 1024, {{"tile", "128x128x64"}, {"split", "1"}});
  SassLoop tile, loop;
  tile.does = loop.does = "wgmma";
  tile.mix.instructions = 1600;
  loop.mix.instructions = 300;
  tile.mix.counts["wgmma"] = loop.mix.counts["wgmma"] = 12;
  loop.mix.counts["fp32"] = 128;
  loop.parent = 0;
  loop.depth = 2;
  SassFacts sass;
  sass.loops = {tile, loop};
  facts.kernels[0].steps[0].sass = sass;
  const auto found = found_of(facts, "promotion and epilogue");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place.part, "promotion");
  facts.kernels[0].steps[0].sass->loops[1].mix.counts["fp32"] = 8;
  facts.kernels[0].steps[0].sass->loops[0].mix.instructions = 400;
  EXPECT_FALSE(found_of(facts, "promotion and epilogue"));
}

TEST(WorkTools, MoreProductsThanThePolicyNeeds) {
  const auto found = found_of(product(4096, 4096, 2048, {{"math", "bf16x6"}}), "accuracy to spare");
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->gain.program, 2 * 777.0 / 805, 0.001);
  EXPECT_EQ(found->actions[0].knobs.at("math"), "fp16x3");
  EXPECT_FALSE(found_of(product(4096, 4096, 2048, {{"math", "fp16x3"}}), "accuracy to spare"));
  // As many products, in a format of half the rate.
  EXPECT_NEAR(found_of(product(4096, 4096, 2048, {{"math", "tf32x3"}}), "accuracy to spare")->gain.program, 777.0 / 422,
              0.001);
}

TEST(WorkTools, WeightsAreSplitOnEachCallUnlessTheyArePacked) {
  Facts facts = product(512, 8192, 1024, {{"tile", "128x128x64"}});
  facts.kernels[0].terms = {{"split", Seconds(4e-4)}};
  facts.frozen = true;
  const auto found = found_of(facts, "split pass");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->actions[0].knobs.at("prepack"), "auto");
  StepFacts pack = facts.kernels[0].steps[0];
  pack.step = "k-pack_b";
  pack.prepare = true;
  facts.kernels[0].steps.push_back(pack);
  EXPECT_FALSE(found_of(facts, "split pass"));
  facts.kernels[0].steps.pop_back();
  facts.frozen = false;
  EXPECT_EQ(found_of(facts, "split pass")->actions[0].kind, ActionKind::kText);
}

// Kernels of 10 us, each of which reads the tensor that the one before wrote.
Facts chain(const std::vector<std::string>& dtypes, Seconds each) {
  Facts out;
  out.machine = "h200";
  for (size_t i = 0; i + 1 < dtypes.size(); ++i) {
    KernelSheet kernel;
    kernel.kernel = fmt::format("k{}", i);
    kernel.family = "map";
    const auto tensor = [&](size_t at, bool written) {
      const double width = dtypes[at] == "f32" ? 4 : 2;
      const bool inside = at > 0 && at + 1 < dtypes.size();
      return TensorFacts{fmt::format("t{}", at), inside ? "intermediate" : "output", dtypes[at], written,
                         Bytes(1e6 * width)};
    };
    kernel.tensors = {tensor(i, false), tensor(i + 1, true)};
    kernel.needs = {{"dram", "", "B", 6e6, Seconds(2e-6)}};
    kernel.bound = Seconds(2e-7);
    kernel.measured = each;
    StepFacts step;
    step.step = step.entry = kernel.kernel;
    step.grid = {1320, 1, 1};
    kernel.steps = {step};
    out.kernels.push_back(kernel);
  }
  out.measured = each * static_cast<double>(out.kernels.size());
  out.bounds.practical = Seconds(1e-7);
  for (const char* name : {"ptxas", "sass", "plan", "trace"}) out.sources.push_back({name, true});
  return out;
}

TEST(WorkTools, AKernelThatOnlyChangesTheFormat) {
  const auto found = found_of(chain({"f32", "f16", "f16"}, Seconds(1e-5)), "cast traffic");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place.kernel, "k0");
  EXPECT_NEAR(found->gain.program, 2, 0.001);
  EXPECT_EQ(found->actions[0].kind, ActionKind::kCut);
  EXPECT_EQ(found->actions[0].with, "k1");
  Facts works = chain({"f32", "f16", "f16"}, Seconds(1e-5));
  works.kernels[0].needs.push_back({"simt.f32", "", "FLOP", 8e6, Seconds(1e-7)});
  EXPECT_FALSE(found_of(works, "cast traffic"));
}

TEST(WorkTools, SmallKernelsAndTheirLaunchesAreOneFinding) {
  const Facts small = chain({"f32", "f32", "f32", "f32", "f32"}, Seconds(2e-6));
  const auto found = found_of(small, "launch bound");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found_of(small, "many small kernels"));
  EXPECT_TRUE(std::any_of(found->evidence.begin(), found->evidence.end(),
                          [](const Evidence& each) { return each.what == "small kernels"; }));
  Facts predicted = small;  // the same whether the time was measured or predicted: launches are in both
  predicted.predicted = std::exchange(predicted.measured, std::nullopt);
  ASSERT_TRUE(found_of(predicted, "launch bound"));
  EXPECT_DOUBLE_EQ(found_of(predicted, "launch bound")->gain.program, found->gain.program);
  const Facts longer = chain({"f32", "f32", "f32", "f32", "f32"}, Seconds(4.2e-6));
  const auto alone = found_of(longer, "many small kernels");  // a launch is a fifth of the time at most
  ASSERT_TRUE(alone || found_of(longer, "launch bound"));
  EXPECT_FALSE(found_of(chain({"f32", "f32", "f32"}, Seconds(1e-4)), "many small kernels"));
}

TEST(WorkTools, PassesOverMemoryThatTheCostModelKnows) {
  Facts facts = chain({"f32", "f32"}, Seconds(1e-3));
  KernelSheet& kernel = facts.kernels[0];
  kernel.needs = {{"dram", "", "B", 5e8, Seconds(1.2e-4)}};
  kernel.bound = Seconds(1.2e-4);
  kernel.terms = {{"memory", Seconds(2.4e-4)}};
  EXPECT_FALSE(found_of(facts, "reads again"));  // slow for another reason
  kernel.form = "block, read again";
  const auto found = found_of(facts, "reads again");
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->gain.program, 2, 0.01);
}

TEST(WorkTools, ManyThreadsThatAddToFewResults) {
  Facts facts = chain({"f32", "f32"}, Seconds(1e-3));
  StepFacts& step = facts.kernels[0].steps[0];
  step.block = {256, 1, 1};
  step.sass = SassFacts{};
  step.sass->mix.counts["atomic"] = 1;
  EXPECT_FALSE(found_of(facts, "contended atomics"));
  facts.kernels[0].tensors[1].bytes = Bytes(4 * 1320);  // 256 threads for each
  facts.bounds.practical = facts.kernels[0].bound = Seconds(1e-4);
  EXPECT_TRUE(found_of(facts, "contended atomics"));
}

TEST(WorkTools, OneKernelReadsWhatBothReadOnce) {
  Facts facts = chain({"f32", "f32", "f32"}, Seconds(1e-5));
  const auto alone = found_of(facts, "intermediate traffic");
  for (KernelSheet& kernel : facts.kernels) kernel.tensors.push_back({"x", "input", "f32", false, Bytes(4e7)});
  const auto shared = found_of(facts, "intermediate traffic");
  ASSERT_TRUE(alone && shared);
  EXPECT_GT(shared->gain.program, alone->gain.program);
}

}  // namespace
}  // namespace solstice::diagnose
