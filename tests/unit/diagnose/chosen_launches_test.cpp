// Which launches of a call are counted, and what is said of the others.
#include "diagnose/counters/chosen_launches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace solstice::diagnose {
namespace {

StepFacts launch(const std::string& step, const std::string& entry, double microseconds) {
  StepFacts out;
  out.step = step;
  out.entry = entry;
  out.grid = {8, 1, 1};
  out.block = {128, 1, 1};
  if (microseconds > 0) out.measured = Seconds(microseconds * 1e-6);
  return out;
}

// Each launch of a kernel of its own.
Facts with(std::vector<StepFacts> steps) {
  Facts out;
  for (StepFacts& step : steps) {
    KernelSheet kernel{.kernel = step.step, .family = "map", .schedule = "map()"};
    kernel.steps.push_back(std::move(step));
    out.kernels.push_back(std::move(kernel));
  }
  out.sources.push_back({"counters", false, "it was not asked", ""});
  return out;
}

TEST(ChosenLaunches, AreTheLongestFirst) {
  const ChosenLaunches chosen = choose_launches(with({launch("a", "fa", 10), launch("b", "fb", 30)}));
  EXPECT_EQ(chosen.steps, (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(chosen.left_out.empty());
}

TEST(ChosenLaunches, ThatAreAlikeAreReadOnce) {
  Facts facts = with({launch("a", "f", 10), launch("b", "f", 10), launch("c", "f", 10), launch("d", "g", 25)});
  const ChosenLaunches chosen = choose_launches(facts);
  EXPECT_EQ(chosen.steps, (std::vector<std::string>{"a", "d"})) << "30 us together";
  EXPECT_EQ(chosen.alike.at("a"), (std::vector<std::string>{"b", "c"}));
  facts.kernels[1].steps[0].grid = {9, 1, 1};
  facts.kernels[2].knobs["tile"] = "64";
  EXPECT_EQ(choose_launches(facts).steps, (std::vector<std::string>{"d", "a", "b", "c"}));
}

TEST(ChosenLaunches, ThatDoNoWorkOrTakeNoTimeAreLeftOutAndNamed) {
  StepFacts guard = launch("a-fallback", "f_fallback", 1), pack = launch("pack", "p", 50);
  guard.fallback = pack.prepare = true;
  const ChosenLaunches chosen = choose_launches(
      with({launch("a", "f", 90), launch("b", "g", 6), launch("c", "h", 3), launch("d", "i", 1), guard, pack}));
  EXPECT_EQ(chosen.steps, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(chosen.left_out.size(), 3u);
  EXPECT_NE(chosen.left_out.at("a-fallback").find("guard"), std::string::npos);
  EXPECT_NE(chosen.left_out.at("c").find("5 %"), std::string::npos);
  EXPECT_TRUE(chosen.left_out.contains("d"));
}

TEST(ChosenLaunches, WithoutTimesAreAllInOrder) {
  const ChosenLaunches chosen = choose_launches(with({launch("b", "f", 0), launch("a", "g", 0)}));
  EXPECT_EQ(chosen.steps, (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(chosen.left_out.empty());
}

// A chain of 500 equal kernels is one launch to read.
TEST(ChosenLaunches, OfAChainAreOne) {
  std::vector<StepFacts> steps;
  for (int i = 0; i < 500; ++i) steps.push_back(launch(fmt::format("k{}", i), "f", 2));
  const ChosenLaunches chosen = choose_launches(with(std::move(steps)));
  EXPECT_EQ(chosen.steps, std::vector<std::string>{"k0"});
  EXPECT_EQ(chosen.alike.at("k0").size(), 499u);
}

CounterRun read_of(const std::vector<std::string>& steps) {
  CounterRun out;
  out.source = {"counters", !steps.empty(), "", ""};
  for (const std::string& step : steps) out.steps[step].metrics = {{"dram__bytes_read.sum", 1}};
  return out;
}

TEST(TakenCounters, HoldForLaunchesAlikeAndSayWhose) {
  Facts facts = with({launch("a", "f", 10), launch("b", "f", 10), launch("c", "g", 10)});
  take_counters(read_of({"a", "c"}), choose_launches(facts), facts);
  const auto& of = [&](size_t kernel) -> const CounterFacts& { return *facts.kernels[kernel].steps[0].counters; };
  EXPECT_EQ(of(0).of, "");
  EXPECT_EQ(of(1).of, "a");
  EXPECT_EQ(of(1).metrics, of(0).metrics);
  EXPECT_EQ(of(2).of, "");
  EXPECT_FALSE(of(0).cold) << "a call begins with empty caches";
  EXPECT_TRUE(of(1).cold);
  EXPECT_TRUE(of(2).cold);
  ASSERT_EQ(facts.sources.size(), 1u);
  EXPECT_TRUE(facts.sources[0].there);
  const Facts again = *read_facts(to_json(facts));
  EXPECT_EQ(again.kernels[1].steps[0].counters->of, "a");
  EXPECT_TRUE(again.kernels[2].steps[0].counters->cold);
}

TEST(TakenCounters, OfALaunchThatWasNotReadAreMissingForThoseAlike) {
  Facts facts = with({launch("a", "f", 50), launch("b", "f", 49), launch("c", "g", 60), launch("d", "h", 1)});
  CounterRun run = read_of({"c"});
  run.source.missing["a"] = "ncu hangs";
  run.source.why = "`a`: ncu hangs";
  take_counters(std::move(run), choose_launches(facts), facts);
  const SourceState& source = facts.sources[0];
  EXPECT_EQ(source.missing.at("b"), "ncu hangs");
  EXPECT_NE(source.missing.at("d").find("shortest"), std::string::npos);
  EXPECT_NE(source.why.find("1 launch left out"), std::string::npos) << source.why;
  EXPECT_FALSE(facts.kernels[1].steps[0].counters);
}

}  // namespace
}  // namespace solstice::diagnose
