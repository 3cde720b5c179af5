#include "propose/expert.h"

#include <gtest/gtest.h>

#include "propose/moves/headroom.h"
#include "record/kernel_facts.h"
#include "record/kernel_trace.h"

namespace solstice::propose {
namespace {

Schedule unroll(int value) {
  Schedule out{"map", {}};
  out.knobs.set("unroll", ir::KnobValue::of_int(value));
  return out;
}

Result<std::string> text(const std::vector<Axis>& all, const Choice& choice) {
  std::string out;
  for (size_t a = 0; a < all.size(); ++a) out += all[a].kernel + " " + all[a].options[choice[a]].text() + "\n";
  return out;
}

// Two kernels of three settings; a candidate's text is its settings.
Formulation formulation(const std::string& label = "", const std::string& kernel = "a") {
  const std::vector<Schedule> options = {unroll(1), unroll(2), unroll(4)};
  return {
      label,
      {{kernel, options, {Seconds(3), Seconds(4), Seconds(5)}}, {"b", options, {Seconds(1), Seconds(1), Seconds(1)}}},
      text};
}

Known known(const Choice& choice, double time) {
  const Formulation f = formulation();
  return {f.settings_of(choice), *text(f.axes, choice), Seconds(time)};
}

// A proposal from `node`, in the tree and measured (0 seconds: it failed); -1 where there is none.
int grow(Expert& expert, search::Tree& tree, int node, double seconds) {
  auto proposal = expert.propose(tree, node);
  EXPECT_TRUE(proposal.ok());
  if (!proposal.ok() || !*proposal) return -1;
  (*proposal)->parent = node;
  const int id = tree.add(std::move(**proposal))->id;
  search::Measurement m;
  m.state = seconds > 0 ? TrialState::kVerified : TrialState::kWrong;
  m.time = Seconds(seconds);
  tree.complete(id, m);
  return id;
}

Choice choice_at(const search::Tree& tree, int node) {
  return *formulation().choice_of(tree.node(node).proposal.settings);
}

TEST(Expert, StartsFromTheCostModelsChoice) {
  Expert expert({formulation()});
  const auto first = expert.propose(search::Tree(), 0);
  ASSERT_TRUE(first.ok() && *first);
  EXPECT_EQ((*first)->program, *text(formulation().axes, {0, 0}));
  EXPECT_EQ((*first)->predicted, Seconds(4));
  EXPECT_EQ((*first)->settings.size(), 2u);
  EXPECT_EQ((*first)->origin, "expert");
  EXPECT_FALSE((*first)->known);
}

TEST(Expert, StartsFromTheFastestOfEarlierRunsAndThenFromTheCostModelsChoice) {
  Expert expert({formulation()},
                {known({0, 0}, 9), known({2, 1}, 2), {{"a map(unroll=99)", "b map(unroll=1)"}, "gone", Seconds(1)}});
  search::Tree tree;
  const int first = grow(expert, tree, 0, 2), second = grow(expert, tree, 0, 9);
  EXPECT_EQ(choice_at(tree, first), (Choice{2, 1}));
  EXPECT_EQ(tree.node(first).proposal.known, Seconds(2));
  EXPECT_EQ(choice_at(tree, second), (Choice{0, 0}));
  EXPECT_EQ(grow(expert, tree, 0, 1), -1);
}

// Each kernel's other settings once around the best, the expensive kernel first; what lost is not tried again.
TEST(Expert, VariesOneKernelAtATime) {
  Expert expert({formulation()});
  search::Tree tree;
  const int first = grow(expert, tree, 0, 10);
  const int a1 = grow(expert, tree, first, 9);
  EXPECT_EQ(choice_at(tree, a1), (Choice{1, 0}));
  const int a2 = grow(expert, tree, a1, 11);
  EXPECT_EQ(choice_at(tree, a2), (Choice{2, 0}));
  const int b1 = grow(expert, tree, a1, 8);
  EXPECT_EQ(choice_at(tree, b1), (Choice{1, 1}));
  const int b2 = grow(expert, tree, b1, 9);
  EXPECT_EQ(choice_at(tree, b2), (Choice{1, 2}));
  EXPECT_EQ(grow(expert, tree, b1, 9), -1) << "nothing gained that it does not have";
}

// Kernel a takes 9 s of 10 s and needs 8.9 of them; b takes 1 s and needs none: b has more to lose, though a takes
// longer.
TEST(Expert, LooksFirstWhereThereIsTimeToLose) {
  const auto kernel = [](const char* name, double measured) {
    return TracedKernel{name, Seconds(measured), std::nullopt, {}};
  };
  const auto cost = [](const char* name, double seconds) {
    return Json::object().set("kernel", name).set("seconds", seconds);
  };
  const KernelFacts needs{"a", "", {{"dram", "", "B", 1, Seconds(8.9)}, {"sfu", "", "op", 1, Seconds(2)}}};
  search::Measurement m{.state = TrialState::kVerified, .time = Seconds(10), .record = Json::object()};
  m.record.set("costs", Json::array().push(cost("a", 3)).push(cost("b", 1)));
  m.record.set("facts", Json::array().push(to_json(needs)));
  m.record.set("trace", to_json(KernelTrace{{kernel("a", 9), kernel("b", 1)}, ""}));
  search::Node node;
  node.measurement = m;
  EXPECT_EQ(headroom_of(formulation().axes, node), (std::vector<Seconds>{Seconds(0.9), Seconds(1)}))
      << "a tenth at least";
  m.record.set("trace", to_json(KernelTrace{{}, "no CUPTI"}));
  node.measurement = m;
  EXPECT_EQ(headroom_of(formulation().axes, node), (std::vector<Seconds>{Seconds(0.75), Seconds(2.5)}))
      << "as the cost models share it out";
  EXPECT_TRUE(headroom_of(formulation().axes, search::Node()).empty());

  Expert expert({formulation()});
  search::Tree tree;
  const auto first = expert.propose(tree, 0);
  ASSERT_TRUE(first.ok() && *first);
  tree.complete(tree.add(**first)->id, m);
  EXPECT_EQ(choice_at(tree, grow(expert, tree, 1, 9)), (Choice{0, 1}));
}

// Two gains from the same parent are tried together.
TEST(Expert, WhatGainedElsewhereIsTriedHereToo) {
  Expert expert({formulation()});
  search::Tree tree;
  const int first = grow(expert, tree, 0, 10);
  grow(expert, tree, first, 9);                  // a: 1
  const int a2 = grow(expert, tree, first, 12);  // a: 2
  const int b1 = grow(expert, tree, first, 8);   // b: 1
  const int b2 = grow(expert, tree, first, 11);  // b: 2
  EXPECT_EQ(choice_at(tree, a2), (Choice{2, 0}));
  EXPECT_EQ(choice_at(tree, b2), (Choice{0, 2}));
  const int both = grow(expert, tree, b1, 7);
  EXPECT_EQ(choice_at(tree, both), (Choice{1, 1}));
  EXPECT_NE(tree.node(both).proposal.reason.find("which gained elsewhere"), std::string::npos);
  EXPECT_EQ(grow(expert, tree, both, 7), -1);
}

TEST(Expert, EachFormulationOpensAndKeepsToItself) {
  Expert expert({formulation("rewritten by factor_sums", "c"), formulation()});
  search::Tree tree;
  const int rewritten = grow(expert, tree, 0, 3), own = grow(expert, tree, 0, 4);
  EXPECT_EQ(tree.node(rewritten).proposal.equations, "rewritten by factor_sums");
  EXPECT_EQ(tree.node(rewritten).proposal.reason, "rewritten by factor_sums: the cost models' first choice");
  EXPECT_EQ(tree.node(own).proposal.equations, "");
  const int next = grow(expert, tree, rewritten, 2);
  EXPECT_EQ(tree.node(next).proposal.equations, "rewritten by factor_sums");
  EXPECT_EQ(choice_at(tree, grow(expert, tree, own, 2)), (Choice{1, 0}));
}

// Repeated layers: the cost models say the same of the same schedules.
TEST(Expert, KernelsThatAreAlikeChangeTogether) {
  Formulation layers = formulation();
  layers.axes.push_back(layers.axes[0]);
  layers.axes.back().kernel = "c";
  const auto at = [&](const search::Tree& tree, int node) {
    return *layers.choice_of(tree.node(node).proposal.settings);
  };
  Expert expert({layers});
  search::Tree tree;
  const int first = grow(expert, tree, 0, 10);
  const int all = grow(expert, tree, first, 9);
  EXPECT_EQ(at(tree, all), (Choice{1, 0, 1}));
  EXPECT_EQ(tree.node(all).proposal.reason, "kernel a and 1 alike: map(unroll=2)");
  grow(expert, tree, first, 12);
  const int other = grow(expert, tree, first, 8);
  EXPECT_EQ(at(tree, other), (Choice{0, 1, 0}));
  grow(expert, tree, other, 12);
  EXPECT_EQ(at(tree, grow(expert, tree, other, 7)), (Choice{1, 1, 1})) << "what gained elsewhere";
}

// A candidate that fails is no end: its settings are varied like any other's.
TEST(Expert, GoesOnFromWhatFails) {
  Expert expert({formulation()});
  search::Tree tree;
  const int first = grow(expert, tree, 0, 0);
  EXPECT_EQ(choice_at(tree, grow(expert, tree, first, 5)), (Choice{1, 0}));
}

Schedule product(const char* math, int64_t tile) {
  Schedule out{"gemm", {}};
  out.knobs.set("math", ir::KnobValue::of_name(math));
  out.knobs.set("tile", ir::KnobValue::of_int(tile));
  return out;
}

// Two unlike products and a kernel without arithmetic to choose.
Formulation products() {
  const std::vector<Schedule> options = {product("fp16x3", 1), product("fp16x3", 2), product("bf16x6", 1),
                                         product("simt", 1)};
  const auto times = [](double unit) {
    return std::vector<Seconds>{Seconds(unit), Seconds(2 * unit), Seconds(3 * unit), Seconds(4 * unit)};
  };
  return {"", {{"a", options, times(5)}, {"b", options, times(1)}, {"c", {unroll(1)}, {Seconds(1)}}}, text};
}

TEST(Expert, WhatIsWrongLeadsToOtherArithmeticInAllItsProducts) {
  Expert expert({products()});
  search::Tree tree;
  const auto at = [&](int node) { return *products().choice_of(tree.node(node).proposal.settings); };
  const int first = grow(expert, tree, 0, 0);
  const int exact = grow(expert, tree, first, 0);
  EXPECT_EQ(at(exact), (Choice{2, 2, 0}));
  EXPECT_EQ(tree.node(exact).proposal.reason, "other arithmetic, bf16x6: trial 1 was wrong");
  EXPECT_EQ(at(grow(expert, tree, first, 9)), (Choice{3, 3, 0})) << "bf16x6 was wrong too";
  EXPECT_NE(grow(expert, tree, first, 9), -1) << "then other schedules, as from any other";
}

// A trial's few values let pass what the full verification found wrong.
TEST(Expert, APreciseMeasurementRefusesArithmeticThatOtherTrialsGotRight) {
  Expert expert({products()});
  search::Tree tree;
  const int first = grow(expert, tree, 0, 5);
  grow(expert, tree, first, 6);
  const auto none = expert.more_exact(tree, first);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(*none) << "nothing is wrong yet";
  tree.again(first, search::Precision::kPrecise);
  search::Measurement wrong;
  wrong.state = TrialState::kWrong;
  tree.complete(first, wrong);
  const auto next = expert.more_exact(tree, first);
  ASSERT_TRUE(next.ok() && *next);
  EXPECT_EQ((*next)->settings, products().settings_of({2, 2, 0}));
}

TEST(Expert, HasNoMovesFromSomebodyElsesCandidate) {
  Expert expert({formulation()});
  search::Tree tree;
  const int id = tree.add({.program = "by hand"})->id;
  EXPECT_EQ(grow(expert, tree, id, 1), -1);
}

}  // namespace
}  // namespace solstice::propose
