#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "diagnose/diagnose.h"
#include "diagnose/occupancy.h"

namespace solstice::diagnose {
namespace {

machine::Machine h200() { return *machine::load_machine("h200"); }

StepFacts step_of(const std::string& name, int64_t blocks) {
  StepFacts out;
  out.step = name;
  out.entry = "solstice_" + name;
  out.grid = {blocks, 1, 1};
  out.block = {256, 1, 1};
  out.registers = 64;
  out.spill_stores = out.spill_loads = out.stack_bytes = 0;
  out.shared_bytes = 1024;
  out.occupancy = occupancy_of(h200(), *needs_of(out));
  return out;
}

// A kernel that reads and writes memory, at its bound, with a full grid.
Facts healthy() {
  Facts out;
  out.machine = "h200";
  out.numerics = "reference";
  KernelSheet kernel;
  kernel.kernel = "up";
  kernel.family = "map";
  kernel.equations = {{"y[i] = x[i] + 1", 4}};
  kernel.needs = {{"dram", "", "B", 4e9, Seconds(1e-3)}, {"simt.f32", "", "FLOP", 1e9, Seconds(2e-5)}};
  kernel.tensors = {{"x", "input", "f32", false, Bytes(2e9)}, {"y", "output", "f32", true, Bytes(2e9)}};
  kernel.bound = Seconds(1e-3);
  kernel.predicted = Seconds(1.05e-3);
  kernel.measured = Seconds(1.06e-3);
  const int64_t full = 4 * 132 * 100;  // blocks of 256 threads and 64 registers, 4 on an SM
  kernel.steps = {step_of("up", full)};
  out.kernels = {kernel};
  out.measured = Seconds(1.06e-3);
  out.bounds.practical = Seconds(1e-3);
  for (const char* name : {"ptxas", "cubin", "sass", "plan", "trace"}) out.sources.push_back({name, true});
  out.sources.push_back({"counters", false, "no GPU", "a GPU"});
  return out;
}

std::vector<Finding> findings(const Facts& facts) { return diagnose(facts, h200()).findings; }

const Finding* of_tool(const std::vector<Finding>& all, const std::string& tool) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& f) { return f.tool == tool; });
  return found == all.end() ? nullptr : &*found;
}

void expect(const Facts& facts, const std::string& tool, double gain) {
  const std::vector<Finding> all = findings(facts);
  const Finding* found = of_tool(all, tool);
  ASSERT_TRUE(found) << tool;
  EXPECT_NEAR(found->gain.program, gain, 0.02 * gain) << tool << ": " << found->gain.because;
  EXPECT_FALSE(found->evidence.empty());
}

TEST(Tools, AHealthyKernelIsAtItsCeilingAndHasNoFindingOfWeight) {
  for (const Finding& finding : findings(healthy()))
    EXPECT_EQ(finding.severity, FindingSeverity::kNote) << finding.cause;
  EXPECT_TRUE(of_tool(findings(healthy()), "at the ceiling"));
}

TEST(Tools, HaveNamesQuestionsSourcesAndOneWayToLook) {
  std::set<std::string> names;
  for (const Tool* tool : all_tools()) {
    EXPECT_TRUE(names.insert(tool->name).second) << tool->name;
    EXPECT_TRUE(tool->question.ends_with("?")) << tool->name;
    EXPECT_FALSE(tool->sources.empty()) << tool->name;
    EXPECT_NE(tool->of_kernel == nullptr, tool->of_program == nullptr) << tool->name;
    for (const Threshold& threshold : tool->thresholds) EXPECT_FALSE(threshold.origin.empty()) << tool->name;
  }
}

TEST(Tools, ASpillIsFoundOnItsStep) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(4e-3);
  facts.kernels[0].steps[0].spill_stores = 128;
  facts.kernels[0].steps[0].spill_loads = 256;
  expect(facts, "register spill", 4);
  EXPECT_EQ(of_tool(findings(facts), "register spill")->place.step, "up");
  EXPECT_EQ(of_tool(findings(facts), "register spill")->place.line, 4);
}

TEST(Tools, AnArrayInLocalMemoryIsNoSpill) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(4e-3);
  facts.kernels[0].steps[0].stack_bytes = 64;
  expect(facts, "local array", 4);
  facts.kernels[0].steps[0].spill_loads = 64;
  EXPECT_FALSE(of_tool(findings(facts), "local array"));
}

TEST(Tools, OccupancyNamesTheResourceAndTheSettingThatLiftsIt) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(4e-3);
  StepFacts& step = facts.kernels[0].steps[0];
  step.registers = 168;
  step.occupancy = occupancy_of(h200(), *needs_of(step));
  EXPECT_EQ(step.occupancy->limited_by, "registers");
  EXPECT_EQ(step.occupancy->warps_per_sm, 8);
  expect(facts, "occupancy limit", 4);
  EXPECT_NE(of_tool(findings(facts), "occupancy limit")->actions[0].text.find("128"), std::string::npos);
}

TEST(Tools, AGainNeverPassesTheBoundOfTheEquations) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(1.2e-3);
  facts.kernels[0].steps[0].grid = {13, 1, 1};
  expect(facts, "small grid", 1.2);
}

TEST(Tools, IdleSmsAndALastWave) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(8e-3);
  StepFacts& step = facts.kernels[0].steps[0];
  step.grid = {66, 1, 1};
  step.occupancy = occupancy_of(h200(), *needs_of(step));
  expect(facts, "small grid", 8);       // half of the SMs, each with one of the four blocks that it can hold
  step.grid = {4 * 132 * 5 / 4, 1, 1};  // a wave and a quarter
  step.occupancy = occupancy_of(h200(), *needs_of(step));
  expect(facts, "wave quantisation", 1.6);
}

TEST(Tools, ProductsOnCudaCores) {
  Facts facts = healthy();
  KernelSheet& kernel = facts.kernels[0];
  kernel.family = "gemm";
  kernel.math = "simt";
  kernel.needs = {{"tensor.f16", "fp16x3", "FLOP", 1e12, Seconds(1e-3)}};
  kernel.measured = facts.measured = Seconds(5e-3);
  expect(facts, "no tensor cores", 5);
  EXPECT_EQ(findings(facts)[0].actions[0].kind, ActionKind::kText);  // nobody said that the move is legal
  DiagnoseOptions options;
  options.legal = [](const FindingAction&) { return true; };
  const std::vector<Finding> moves = diagnose(facts, h200(), options).findings;
  EXPECT_EQ(of_tool(moves, "no tensor cores")->actions[0].knobs.at("math"), "fp16x3");
}

// A kernel of others is judged by its machine code, and not at all without it.
TEST(Tools, ProductsOfGivenCodeAreSeenInItsMachineCode) {
  Facts facts = healthy();
  KernelSheet& kernel = facts.kernels[0];
  kernel.family = "cuda";
  kernel.needs.push_back({"tensor.f16", "fp16x3", "FLOP", 4e11, Seconds(5e-4)});
  kernel.measured = facts.measured = Seconds(4e-3);
  EXPECT_EQ(of_tool(findings(facts), "no tensor cores"), nullptr);
  kernel.steps[0].sass = SassFacts();
  kernel.steps[0].sass->mix.counts["wgmma"] = 24;
  EXPECT_EQ(of_tool(findings(facts), "no tensor cores"), nullptr);
  kernel.steps[0].sass->mix.counts.clear();
  EXPECT_NE(of_tool(findings(facts), "no tensor cores"), nullptr);
}

// Work that should take less than a launch, and took much longer, is no matter of launches.
TEST(Tools, ASlowSmallKernelIsNotBoundByItsLaunch) {
  Facts facts = healthy();
  facts.kernels[0].needs = {{"dram", "", "B", 4e5, Seconds(1e-7)}};
  EXPECT_EQ(diagnose(facts, h200()).kernels[0].second.of(), Class::kDram);
  facts.kernels[0].measured = facts.measured = Seconds(1.5e-6);
  EXPECT_EQ(diagnose(facts, h200()).kernels[0].second.of(), Class::kLaunch);
}

TEST(Tools, WhatIsLeftOutIsGone) {
  Facts facts = healthy();
  leave_out({"ptxas", "trace"}, facts);
  EXPECT_FALSE(facts.kernels[0].measured || facts.kernels[0].steps[0].registers || facts.kernels[0].steps[0].occupancy);
}

TEST(Tools, ManySmallKernelsAreLaunches) {
  Facts facts = healthy();
  const KernelSheet kernel = facts.kernels[0];
  facts.kernels.clear();
  for (int i = 0; i < 10; ++i) {
    facts.kernels.push_back(kernel);
    facts.kernels.back().kernel = "k" + std::to_string(i);
    facts.kernels.back().measured = Seconds(1e-6);
  }
  facts.measured = Seconds(10 * (1e-6 + 0.844e-6));
  facts.bounds.practical = Seconds(1e-6);
  expect(facts, "launch bound", 1 / (1 - 0.4577 * 0.9));
}

// Launches are what lies between short kernels: one finding.
TEST(Tools, GapsBetweenLaunchesAreTheirs) {
  Facts facts = healthy();
  const KernelSheet kernel = facts.kernels[0];
  facts.kernels.clear();
  for (int i = 0; i < 10; ++i) {
    facts.kernels.push_back(kernel);
    facts.kernels.back().kernel = "k" + std::to_string(i);
    facts.kernels.back().measured = Seconds(1e-6);
    facts.timeline.push_back({"up", Seconds(2e-6 * i), Seconds(2e-6 * i + 1e-6)});
  }
  facts.measured = Seconds(20e-6);
  facts.bounds.practical = Seconds(1e-6);
  const std::vector<Finding> all = findings(facts);
  EXPECT_TRUE(of_tool(all, "launch bound"));
  EXPECT_FALSE(of_tool(all, "gaps"));
  EXPECT_FALSE(of_tool(all, "no overlap"));
}

// A fallback is launched on each call too; what runs at load is not.
TEST(Tools, LaunchesAreCountedAlike) {
  KernelSheet kernel = healthy().kernels[0];
  EXPECT_EQ(kernel.launches(), 1u);
  for (bool StepFacts::*flag : {&StepFacts::fallback, &StepFacts::prepare}) {
    kernel.steps.push_back(kernel.steps[0]);
    kernel.steps.back().*flag = true;
  }
  EXPECT_EQ(kernel.launches(), 2u);
}

TEST(Tools, ASpillInTheLoopIsOneFindingWithTheSpill) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(4e-3);
  StepFacts& step = facts.kernels[0].steps[0];
  step.spill_stores = step.spill_loads = 128;
  SassLoop loop;
  loop.does = "compute";
  loop.mix.instructions = 100;
  loop.mix.accesses = {{"local", true, 32, 5}, {"local", false, 32, 5}};
  step.sass = SassFacts{};
  step.sass->mix = loop.mix;
  step.sass->loops = {loop};
  const std::vector<Finding> all = findings(facts);
  EXPECT_TRUE(of_tool(all, "spill in the loop"));
  EXPECT_FALSE(of_tool(all, "register spill"));
}

TEST(Tools, GapsAreWhereNothingRuns) {
  Facts facts = healthy();
  facts.timeline = {
      {"a", Seconds(0), Seconds(1e-3)}, {"b", Seconds(1e-3), Seconds(2e-3)}, {"c", Seconds(3e-3), Seconds(4e-3)}};
  facts.measured = Seconds(4e-3);
  expect(facts, "gaps", 4.0 / 3);
  EXPECT_EQ(of_tool(findings(facts), "gaps")->place.step, "c");
  // A timed call has less room for them than a traced one.
  facts.measured = Seconds(3.2e-3);
  expect(facts, "gaps", 3.2 / 3);
}

TEST(Tools, KernelsThatShareAFunctionAreOneFinding) {
  Facts facts = healthy();
  facts.kernels[0].measured = Seconds(4e-3);
  facts.kernels[0].steps[0].spill_stores = 128;
  facts.kernels.push_back(facts.kernels[0]);
  facts.kernels.back().kernel = "down";
  facts.measured = Seconds(8e-3);
  const std::vector<Finding> all = findings(facts);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Finding& f) { return f.tool == "register spill"; }), 1);
  EXPECT_EQ(of_tool(all, "register spill")->also, std::vector<std::string>{"up"});
  EXPECT_NEAR(of_tool(all, "register spill")->gain.program, 4, 0.01);  // each half becomes four times as fast
}

// The move of each of them is heard.
TEST(Tools, FindingsThatBecomeOneKeepTheMovesOfAll) {
  Facts facts = healthy();
  facts.kernels[0].family = "gemm";
  facts.kernels[0].math = "simt";
  facts.kernels[0].needs = {{"tensor.f16", "fp16x3", "FLOP", 1e12, Seconds(1e-3)}};
  facts.kernels[0].measured = Seconds(5e-3);
  for (const char* name : {"down", "out"}) {
    facts.kernels.push_back(facts.kernels[0]);
    facts.kernels.back().kernel = name;
  }
  facts.measured = Seconds(15e-3);
  DiagnoseOptions options;
  options.legal = [](const FindingAction&) { return true; };
  const std::vector<Finding> all = diagnose(facts, h200(), options).findings;
  const Finding* found = of_tool(all, "no tensor cores");
  ASSERT_TRUE(found);
  std::set<std::string> kernels;
  for (const FindingAction& action : found->actions) {
    if (action.kind == ActionKind::kMath) kernels.insert(action.kernel);
  }
  EXPECT_EQ(kernels, (std::set<std::string>{"down", "out", "up"}));
  EXPECT_EQ(std::count_if(found->actions.begin(), found->actions.end(),
                          [](const FindingAction& action) { return action.kind == ActionKind::kText; }),
            1);
  const std::vector<ActionGroup> groups = grouped_actions(*found);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(more_text(groups[0]), ", and the same for 2 more");
  EXPECT_EQ(more_text(groups[1]), "");
}

TEST(Tools, ClustersThatDoNotFillTheGpu) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(4e-3);
  StepFacts& step = facts.kernels[0].steps[0];
  step.shared_bytes = 120 << 10;  // a block an SM
  const auto clustered = [&](int64_t size) {
    step.cluster = {size, 1, 1};
    step.occupancy = occupancy_of(h200(), *needs_of(step));
    return step.occupancy->blocks_per_sm;
  };
  for (const int64_t size : {4, 8}) {
    ASSERT_EQ(clustered(size), 1);
    expect(facts, "cluster fill", 132 / 120.0);
    EXPECT_NEAR(step.occupancy->waves, 4 * 132 * 100 / 120.0, 1e-9);
  }
  clustered(2);
  EXPECT_FALSE(of_tool(findings(facts), "cluster fill"));
  step.shared_bytes = 50 << 10;
  ASSERT_EQ(clustered(4), 4);  // as four clusters of one SM each
  EXPECT_FALSE(of_tool(findings(facts), "cluster fill"));
}

// What is not known is not 1: the finding stays, and says so.
TEST(Tools, AGainThatNothingHoldsDownIsNotBounded) {
  Facts facts = healthy();
  facts.kernels[0].missing = "a scan";
  facts.kernels[0].measured = facts.measured = Seconds(4e-3);
  expect(facts, "missing family", 4);
  facts.kernels[0].bound.reset();
  const std::vector<Finding> all = findings(facts);
  const Finding* found = of_tool(all, "missing family");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->gain.open);
  EXPECT_EQ(found->severity, FindingSeverity::kMedium);
  EXPECT_TRUE(found->gain.because.starts_with("not bounded")) << found->gain.because;
}

TEST(Tools, AMissingSourceLeavesAQuestionOpenAndNothingElse) {
  Facts facts = healthy();
  facts.kernels[0].steps[0].spill_stores = 128;
  DiagnoseOptions options;
  options.without = {"ptxas"};
  const Diagnosis found = diagnose(facts, h200(), options);
  EXPECT_FALSE(of_tool(found.findings, "register spill"));
  const auto open = std::find_if(found.open.begin(), found.open.end(),
                                 [](const OpenQuestion& each) { return each.tool == "register spill"; });
  ASSERT_NE(open, found.open.end());
  EXPECT_EQ(open->source, "ptxas");
}

TEST(Tools, TheirOrderDoesNotShow) {
  Facts facts = healthy();
  facts.kernels[0].measured = facts.measured = Seconds(8e-3);
  facts.kernels[0].steps[0].spill_stores = 128;
  facts.kernels[0].steps[0].grid = {66, 1, 1};
  const auto text = [](const Diagnosis& diagnosis) {
    std::string out;
    for (const Finding& finding : diagnosis.findings) out += to_json(finding).dump();
    return out;
  };
  DiagnoseOptions options;
  options.tools = all_tools();
  const std::string first = text(diagnose(facts, h200(), options));
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(options.tools.begin(), options.tools.end(), random);
    EXPECT_EQ(text(diagnose(facts, h200(), options)), first);
  }
}

TEST(Tools, ABadToolCostsItsOwnAnswer) {
  static const Tool unsound{.name = "unsound",
                            .question = "?",
                            .sources = {"plan"},
                            .classes = {},
                            .of_program = [](const Tool& tool, const ProgramView&, std::vector<Finding>& out) {
                              out.push_back(finding_on(tool, "no evidence", {0.5, 1, ""}));
                            }};
  static const Tool loud{.name = "loud",
                         .question = "?",
                         .sources = {"plan"},
                         .classes = {},
                         .of_program = [](const Tool& tool, const ProgramView&, std::vector<Finding>& out) {
                           for (int i = 0; i < 10000; ++i) out.push_back(finding_on(tool, "again", {1, 1, ""}));
                         }};
  DiagnoseOptions options;
  options.tools = all_tools();
  const size_t usual = diagnose(healthy(), h200(), options).findings.size();
  options.tools.push_back(&unsound);
  options.tools.push_back(&loud);
  const Diagnosis found = diagnose(healthy(), h200(), options);
  EXPECT_EQ(found.findings.size(), usual);
  EXPECT_EQ(found.faults.size(), 2u);
}

TEST(Facts, AreTheSameAfterAJourney) {
  Facts facts = healthy();
  facts.clocks = ClockReading{.sm_mhz = 1980, .watts = 300};
  facts.kernels[0].steps[0].sass = SassFacts{};
  facts.kernels[0].steps[0].counters = CounterFacts{{{"dram__bytes_read.sum", 2e9}}, {{"long_scoreboard", 0.5}}};
  const Result<Facts> back = from_json<Facts>(to_json(facts));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back).dump(), to_json(facts).dump());
}

}  // namespace
}  // namespace solstice::diagnose
