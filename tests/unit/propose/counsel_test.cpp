// Findings of a candidate order the expert's moves from it.
#include "propose/moves/counsel.h"

#include <gtest/gtest.h>

#include <set>

#include "propose/expert.h"
#include "propose/formulation/plan.h"

namespace solstice::propose {
namespace {

Schedule unrolled(int value) {
  Schedule out{"map", {}};
  out.knobs.set("unroll", ir::KnobValue::of_int(value));
  return out;
}

Result<std::string> text_of_settings(const std::vector<Axis>& all, const Choice& choice) {
  std::string out;
  for (size_t a = 0; a < all.size(); ++a) out += all[a].kernel + " " + all[a].options[choice[a]].text() + "\n";
  return out;
}

// Two kernels of three settings; `a` has more to lose, so that its settings come first without findings.
Formulation two_to_counsel() {
  const std::vector<Schedule> options = {unrolled(1), unrolled(2), unrolled(4)};
  return {"",
          {{"a", options, {Seconds(3), Seconds(4), Seconds(5)}}, {"b", options, {Seconds(1), Seconds(1), Seconds(1)}}},
          text_of_settings};
}

Finding finding_of(const std::string& tool, FindingAction action, double gain, Confidence confidence) {
  Finding out;
  out.tool = tool;
  out.place.kernel = action.kernel;
  out.cause = "so";
  out.evidence = {{"quantity", 1, "", "plan"}};
  out.actions = {std::move(action)};
  out.gain = {gain, gain, "so"};
  out.confidence = confidence;
  return out;
}

Finding unroll_advised(const std::string& tool, const std::string& kernel, const std::string& value, double gain,
                       Confidence confidence = Confidence::kHigh) {
  return finding_of(tool, {ActionKind::kKnobs, "unroll", kernel, {{"unroll", value}}, ""}, gain, confidence);
}

search::Measurement measured_with(const std::vector<Finding>& findings) {
  search::Measurement out{.state = TrialState::kVerified, .time = Seconds(10), .record = Json::object()};
  Json all = Json::array();
  for (const Finding& finding : findings) all.push(to_json(finding));
  out.record.set("findings", all);
  return out;
}

search::Proposal next_from(Expert& expert, search::Tree& tree, int node, const std::vector<Finding>& findings = {}) {
  const auto proposal = expert.propose(tree, node);
  EXPECT_TRUE(proposal.ok() && *proposal);
  if (!proposal.ok() || !*proposal) return {};
  search::Proposal next = **proposal;
  next.parent = node;
  tree.complete(tree.add(next)->id, measured_with(findings));
  return next;
}

Choice choice_of_settings(const search::Proposal& proposal) { return *two_to_counsel().choice_of(proposal.settings); }

TEST(Counsel, WhatAFindingAdvisesGoesFirstOnce) {
  Expert expert({two_to_counsel()});
  search::Tree tree;
  next_from(expert, tree, 0, {unroll_advised("narrow loads", "b", "4", 1.8)});
  const search::Proposal first = next_from(expert, tree, 1);
  EXPECT_EQ(choice_of_settings(first), (Choice{0, 2}));
  EXPECT_EQ(first.reason, "kernel b: map(unroll=4), as `narrow loads` advises: at most 1.8x");
  EXPECT_EQ(choice_of_settings(next_from(expert, tree, 1)), (Choice{1, 0})) << "then as without";
}

TEST(Counsel, SwitchedOffTheSearchIsTheSame) {
  Expert expert({two_to_counsel()}, {}, nullptr, Hearing{.findings = false});
  search::Tree tree;
  next_from(expert, tree, 0, {unroll_advised("narrow loads", "b", "4", 1.8)});
  const search::Proposal first = next_from(expert, tree, 1);
  EXPECT_EQ(choice_of_settings(first), (Choice{1, 0}));
  EXPECT_EQ(first.reason, "kernel a: map(unroll=2)");
}

// The bound counts by its confidence, and by how often the tool was right.
TEST(Counsel, ThatWhichPromisesMostGoesFirst) {
  const std::vector<Finding> findings = {unroll_advised("bold", "b", "4", 1.8, Confidence::kLow),
                                         unroll_advised("sure", "b", "2", 1.4, Confidence::kHigh)};
  search::Node node;
  node.measurement = measured_with(findings);
  EXPECT_EQ(counsel_of(node, {}).front().tool, "sure");
  EXPECT_EQ(counsel_of(node, {true, {{"sure", 0.1}}}).front().tool, "bold");
  Expert expert({two_to_counsel()});
  search::Tree tree;
  next_from(expert, tree, 0, findings);
  EXPECT_EQ(choice_of_settings(next_from(expert, tree, 1)), (Choice{0, 1}));
  EXPECT_EQ(choice_of_settings(next_from(expert, tree, 1)), (Choice{0, 2}));
}

// A finding that several kernels share has a move for each.
TEST(Counsel, TheMovesOfAllKernelsOfAFindingAreHeard) {
  Finding shared = unroll_advised("narrow loads", "b", "4", 1.8);
  shared.also = {"a"};
  shared.actions.push_back(unroll_advised("narrow loads", "a", "4", 1.8).actions[0]);
  Expert expert({two_to_counsel()});
  search::Tree tree;
  next_from(expert, tree, 0, {shared});
  std::set<Choice> first;
  for (int i = 0; i < 2; ++i) first.insert(choice_of_settings(next_from(expert, tree, 1)));
  EXPECT_EQ(first, (std::set<Choice>{{0, 2}, {2, 0}}));
}

TEST(Counsel, AKnobThatNoScheduleWritesIsAuto) {
  EXPECT_TRUE(takes(Schedule{"map", {}}, unroll_advised("x", "b", "auto", 2).actions[0]));
  EXPECT_FALSE(takes(unrolled(2), unroll_advised("x", "b", "auto", 2).actions[0]));
  EXPECT_FALSE(takes(Schedule{"map", {}}, unroll_advised("x", "b", "2", 2).actions[0]));
}

TEST(Counsel, WhatIsNoMoveOrPromisesNothingIsNotHeard) {
  search::Node node;
  node.measurement = measured_with({unroll_advised("a", "b", "4", 1.001),
                                    finding_of("b", {ActionKind::kText, "vectors", "b", {}, ""}, 2, Confidence::kHigh),
                                    finding_of("c", {ActionKind::kCode, "code", "b", {}, ""}, 2, Confidence::kHigh)});
  EXPECT_TRUE(counsel_of(node, {}).empty());
  node.measurement->record.set("findings", Json::array().push("damaged"));
  EXPECT_TRUE(counsel_of(node, {}).empty());
  node.measurement->state = TrialState::kWrong;
  EXPECT_TRUE(counsel_of(node, {}).empty());
}

// It takes no move away: in the end the same candidates were tried.
TEST(Counsel, TheSameMovesAreTriedInAnotherOrder) {
  const auto tried = [](bool findings) {
    Expert expert({two_to_counsel()}, {}, nullptr, Hearing{.findings = findings});
    search::Tree tree;
    next_from(expert, tree, 0, {unroll_advised("x", "b", "4", 1.8), unroll_advised("y", "gone", "4", 3)});
    std::set<std::string> out;
    for (auto proposal = expert.propose(tree, 1); proposal.ok() && *proposal; proposal = expert.propose(tree, 1)) {
      out.insert((*proposal)->program);
      (*proposal)->parent = 1;
      search::Measurement slower{.state = TrialState::kVerified, .time = Seconds(11)};
      tree.complete(tree.add(**proposal)->id, slower);
    }
    return out;
  };
  EXPECT_EQ(tried(true), tried(false));
  EXPECT_EQ(tried(true).size(), 4u);
}

// What memory has measured elsewhere weighs more than a bound: a move that it expects to lose keeps its place.
TEST(Counsel, MemoryThatExpectsALossIsBelieved) {
  const Formulation formulation = two_to_counsel();
  const Alike groups = {{0}, {1}};
  const Choice from = {0, 0};
  const std::vector<Counsel> counsel = {
      {{ActionKind::kKnobs, "unroll", "b", {{"unroll", "4"}}, ""}, "narrow loads", 1.8, 0.8}};
  const auto first = [&](const Worth& worth) {
    std::vector<Move> moves = moves_from(formulation.axes, groups, from, {}, worth);
    put_advised_first(moves, formulation, from, counsel, {}, worth);
    return moves.front().applied_to(from);
  };
  EXPECT_EQ(first({}), (Choice{0, 2}));
  EXPECT_EQ(first({{0, 0, 0}, {0, 0, -1}}), (Choice{1, 0}));
  EXPECT_EQ(first({{0, 2, 0}, {0, 0, 0}}), (Choice{1, 0})) << "memory expects more of it";
}

// Of the options with the knob that which changes least besides.
TEST(Counsel, TheNearestOptionIsTaken) {
  const auto tiled = [](int unroll, int threads) {
    Schedule out = unrolled(unroll);
    out.knobs.set("threads", ir::KnobValue::of_int(threads));
    return out;
  };
  Formulation one = two_to_counsel();
  one.axes = {{"a", {tiled(1, 256), tiled(4, 128), tiled(4, 256)}, {Seconds(1), Seconds(1), Seconds(1)}}};
  std::vector<Move> moves = moves_from(one.axes, {{0}}, {0}, {});
  put_advised_first(moves, one, {0}, {{{ActionKind::kKnobs, "", "a", {{"unroll", "4"}}, ""}, "x", 2, 1}}, {}, {});
  EXPECT_EQ(moves.front().option, 2u);
  EXPECT_EQ(moves.size(), 2u);
}

std::shared_ptr<const ir::BoundText> bound_for_counsel(const char* text) {
  auto problem = ir::bound_text(text, "p.ucut");
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  return std::make_shared<const ir::BoundText>(std::move(*problem));
}

// A linear layer with its activation: in one kernel, or in two.
TEST(Counsel, CutsThatItKnowsGoFirst) {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  const auto planned = plan(bound_for_counsel(R"(program linear_gelu
dim M = 1024, K = 4096, N = 4096
param  w : f32[N, K] "w"
input  x : f32[M, K]
output y : f32[M, N]

z[m,n] = sum[k](x[m,k] * w[n,k])
y[m,n] = gelu(z[m,n])
)"),
                            {machine});
  ASSERT_TRUE(planned.ok());
  const std::vector<Axis>& axes = planned->formulation.axes;
  FindingAction cut{ActionKind::kCut, "another cut", axes[0].kernel, {}, ""};
  if (axes.size() > 1) cut.with = axes[1].kernel;
  const auto second = [&](bool heard, const FindingAction& action) {
    Expert expert({planned->formulation}, {}, nullptr, Hearing{.findings = heard});
    search::Tree tree;
    next_from(expert, tree, 0, {finding_of("intermediate traffic", action, 1.3, Confidence::kHigh)});
    return next_from(expert, tree, 1);
  };
  const search::Proposal with = second(true, cut), without = second(false, cut);
  EXPECT_NE(with.cut, cut_text(planned->formulation.cut));
  EXPECT_NE(with.reason.find(", as `intermediate traffic` advises: at most 1.3x"), std::string::npos) << with.reason;
  EXPECT_EQ(without.reason.find("advises"), std::string::npos);
  Expert expert({planned->formulation});
  search::Tree tree;
  const std::vector<Finding> everywhere = {finding_of("intermediate traffic", cut, 1.3, Confidence::kHigh)};
  next_from(expert, tree, 0, everywhere);
  next_from(expert, tree, 1, everywhere);
  next_from(expert, tree, 1, everywhere);
  EXPECT_EQ(next_from(expert, tree, 3).reason.find("advises"), std::string::npos) << "once, not from each candidate";
  cut.with = "no such kernel";
  EXPECT_EQ(second(true, cut).program, without.program) << "advice that cannot be followed changes nothing";
}

}  // namespace
}  // namespace solstice::propose
