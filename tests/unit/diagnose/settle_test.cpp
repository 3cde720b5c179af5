// Findings of all tools become one list: bounds held to measurements, causes that take in what follows from them.
#include "diagnose/settle.h"

#include <gtest/gtest.h>

#include "diagnose/diagnose.h"

namespace solstice::diagnose {
namespace {

// A kernel of 4 ms whose equations need 1 ms, in one step.
Facts settled_facts(std::map<std::string, double> stalls = {}) {
  Facts out;
  out.machine = "h200";
  KernelSheet kernel;
  kernel.kernel = "k";
  kernel.family = "cuda";
  kernel.needs = {{"dram", "", "B", 4e9, Seconds(1e-3)}};
  kernel.bound = Seconds(1e-3);
  kernel.measured = out.measured = Seconds(4e-3);
  StepFacts step;
  step.step = step.entry = "k";
  step.measured = Seconds(4e-3);
  if (!stalls.empty()) step.counters = CounterFacts{{}, std::move(stalls)};
  kernel.steps = {step};
  out.kernels = {kernel};
  for (const char* name : {"plan", "trace", "counters"}) out.sources.push_back({name, true});
  return out;
}

template <int kGainPercent>
void say(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  Finding finding = finding_on(tool, view, tool.name, view.gain(kGainPercent / 100.0, "as told"));
  finding.place.step = "k";
  finding.evidence = {evidence(tool.name, 1, "", "plan")};
  out.push_back(std::move(finding));
}

const Tool kCauseOf2{.name = "cause of 2", .question = "?", .sources = {"plan"}, .classes = {}, .of_kernel = say<200>};
const Tool kCauseOf110{
    .name = "cause of 1.1", .question = "?", .sources = {"plan"}, .classes = {}, .of_kernel = say<110>};
const Tool kObserved{.name = "observed",
                     .question = "?",
                     .sources = {"counters"},
                     .classes = {},
                     .of_kernel = say<300>,
                     .says = Says::kSymptom};
const Tool kUnitIdle{.name = "unit",
                     .question = "?",
                     .sources = {"counters"},
                     .classes = {},
                     .of_kernel = say<150>,
                     .says = Says::kUnit};
const Tool kOfLoads{.name = "of loads",
                    .question = "?",
                    .sources = {"plan"},
                    .classes = {},
                    .of_kernel = say<400>,
                    .shows_as = {"long_scoreboard"}};
const Tool kWider{.name = "wider",
                  .question = "?",
                  .sources = {"plan"},
                  .classes = {},
                  .of_kernel = say<150>,
                  .explains = {"cause of 2"}};

std::vector<Finding> settled(const Facts& facts, std::vector<const Tool*> tools) {
  DiagnoseOptions options;
  options.tools = std::move(tools);
  return diagnose(facts, *machine::load_machine("h200"), options).findings;
}

TEST(Settle, ACauseTakesInWhatFollowsFromIt) {
  const std::vector<Finding> all = settled(settled_facts(), {&kObserved, &kCauseOf2});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].tool, "cause of 2");
  EXPECT_EQ(all[0].evidence.size(), 2u);
  EXPECT_EQ(all[0].sources, (std::vector<std::string>{"plan", "counters"}));
}

TEST(Settle, ASmallCauseExplainsNothingAndComesFirstAllTheSame) {
  const std::vector<Finding> all = settled(settled_facts(), {&kObserved, &kUnitIdle, &kCauseOf110});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].tool, "cause of 1.1");
  EXPECT_EQ(all[1].tool, "unit");  // nearer to what has to change
  EXPECT_EQ(all[2].tool, "observed");
  EXPECT_EQ(all[2].severity, FindingSeverity::kMedium);
}

TEST(Settle, ACauseNamesThoseThatFollowFromIt) {
  const std::vector<Finding> all = settled(settled_facts(), {&kCauseOf2, &kWider});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].tool, "wider");
}

TEST(Settle, ABoundIsHeldToTheSamplesOfItsReasons) {
  EXPECT_NEAR(settled(settled_facts(), {&kOfLoads})[0].gain.program, 4, 0.01);
  const Facts few = settled_facts({{"long_scoreboard", 0.2}, {"wait", 0.8}});
  EXPECT_NEAR(settled(few, {&kOfLoads})[0].gain.program, 1.25, 0.01);
  EXPECT_NEAR(settled(few, {&kCauseOf2})[0].gain.program, 2, 0.01);  // which shows as nothing
  // Who waits at a barrier waits for what the others wait for.
  const Facts barrier = settled_facts({{"long_scoreboard", 0.2}, {"barrier", 0.6}, {"wait", 0.2}});
  EXPECT_NEAR(settled(barrier, {&kOfLoads})[0].gain.program, 2, 0.01);
}

TEST(Settle, WarpsOfDifferentRolesWaitForEachOtherByDesign) {
  Facts facts = settled_facts({{"long_scoreboard", 0.2}, {"wait", 0.8}});
  facts.kernels[0].steps[0].sass = SassFacts{};
  facts.kernels[0].steps[0].sass->mix.counts["wgmma"] = 4;
  EXPECT_NEAR(settled(facts, {&kOfLoads})[0].gain.program, 4, 0.01);
}

TEST(Settle, NoProgramPassesItsPracticalBound) {
  Facts facts = settled_facts();
  facts.bounds.practical = Seconds(3.2e-3);
  EXPECT_NEAR(settled(facts, {&kCauseOf2})[0].gain.program, 1.25, 0.01);
}

TEST(Settle, InstructionsThatNobodyTimedMayHideBehindMemory) {
  static const Tool instructions{.name = "instructions",
                                 .question = "?",
                                 .sources = {"plan"},
                                 .classes = {},
                                 .of_kernel = say<200>,
                                 .shows_as = stalls_of_instructions()};
  Facts facts = settled_facts();
  EXPECT_EQ(settled(facts, {&instructions})[0].severity, FindingSeverity::kHigh);
  facts.predicted = facts.kernels[0].predicted = Seconds(1.1e-3);
  facts.kernels[0].measured.reset();
  facts.measured.reset();
  EXPECT_EQ(settled(facts, {&instructions})[0].severity, FindingSeverity::kMedium);
  // A prediction knows nothing of what is wrong: it holds no bound down.
  EXPECT_NEAR(settled(facts, {&kCauseOf2})[0].gain.program, 2, 0.01);
}

}  // namespace
}  // namespace solstice::diagnose
