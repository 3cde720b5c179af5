// Memory across problems, on problems whose true times differ from the cost models' in ways that kernels of one kind
// share: no GPU is needed to see that what six of them teach helps with six others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "propose/expert.h"
#include "propose/facts/facts.h"
#include "propose/facts/structure.h"
#include "propose/formulation/plan.h"
#include "search/make_policy.h"
#include "search/replay/benefit.h"

namespace solstice::propose {
namespace {

const machine::Machine& machine_of_tests() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

Plan planned(const std::string& text) {
  Result<ir::BoundText> problem = ir::bound_text(text, "p.ucut");
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  Result<Plan> made = plan(std::make_shared<const ir::BoundText>(std::move(*problem)), {machine_of_tests()});
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(*made);
}

std::string linear(int m, int k, int n, const std::string& then) {
  return fmt::format(
      "program linear\ndim M = {}, K = {}, N = {}\nparam w : f32[N, K] \"w\"\ninput x : f32[M, K]\noutput y : f32[M, "
      "N]\n\n"
      "z[m,n] = sum[k](x[m,k] * w[n,k])\ny[m,n] = {}\n",
      m, k, n, then);
}

std::string softmax(int m, int n, const std::string& of) {
  return fmt::format(
      "program softmax\ndim M = {}, N = {}\ninput x : f32[M, N]\noutput y : f32[M, N]\n\n"
      "a[m,n] = {}\ne[m,n] = exp(a[m,n] - max[j](a[m,j]))\ny[m,n] = e[m,n] / sum[j](e[m,j])\n",
      m, n, of);
}

std::string norm(int m, int n, const std::string& then) {
  return fmt::format(
      "program norm\ndim M = {}, N = {}\nparam w : f32[N] \"w\"\ninput x : f32[M, N]\noutput y : f32[M, N]\n\n"
      "s[m] = mean[j](x[m,j]*x[m,j])\ny[m,n] = {}\n",
      m, n, then);
}

// What the cost models do not know: of each part of a setting, for kernels of one kind and, less, for those of one
// form.
double surprise_of(const Piece& piece) {
  double out = 0;
  for (const std::string& part : search::parts_of(piece.setting)) {
    out += 0.15 * search::Random(1, piece.structure.kind + part).normal();
    out += 0.05 * search::Random(2, piece.structure.form + part).normal();
  }
  return std::clamp(out, -1.0, 1.0);
}

class MadeUpTimes : public search::InOrder {
 protected:
  void begin(const search::Node& node) override { programs_[node.id] = node.proposal.program; }
  Result<search::Measurement> finish(int node) override {
    search::Measurement out;
    const std::optional<std::vector<Piece>> pieces = pieces_on(machine_of_tests())(programs_[node]);
    if (!pieces) return fail(Code::internal, "the expert's candidates can be read: " + programs_[node]);
    out.state = TrialState::kVerified;
    out.noise = 0.002;
    for (const Piece& piece : *pieces) out.time += piece.cost * std::exp2(-surprise_of(piece));
    out.time = out.time * (1 + out.noise * search::Random(3, programs_[node]).normal());
    return out;
  }

 private:
  std::map<int, std::string> programs_;
};

search::Record searched(const std::string& name, const std::string& text,
                        std::shared_ptr<const search::Memory> memory) {
  Plan made = planned(text);
  Expert expert({made.formulation}, {}, std::move(memory));
  MadeUpTimes times;
  search::Tree tree(made.cost * 2);
  const auto policy = search::make_policy("greedy", 1);
  search::Budget budget;
  budget.trials = 40;
  const auto stop = search::run(tree, {**policy, expert, times}, budget, 1, {}, [] { return false; });
  EXPECT_TRUE(stop.ok()) << stop.error().text();
  return std::move(*search::Record::read({.id = name, .problem = name, .events = tree.events()}));
}

const std::vector<std::string> kTaught = {
    linear(1024, 4096, 4096, "gelu(z[m,n])"), linear(4096, 1024, 8192, "max(z[m,n], 0.0)"),
    linear(2048, 2048, 2048, "tanh(z[m,n])"), softmax(8192, 4096, "x[m,n]"),
    softmax(65536, 1024, "2.0*x[m,n]"),       norm(16384, 4096, "x[m,n] * rsqrt(s[m] + 1e-5)")};
const std::vector<std::string> kNew = {linear(2048, 8192, 4096, "gelu(z[m,n])"),
                                       linear(8192, 2048, 2048, "sigmoid(z[m,n])"),
                                       softmax(16384, 8192, "x[m,n]"),
                                       softmax(4096, 16384, "tanh(x[m,n])"),
                                       norm(8192, 8192, "x[m,n] * rsqrt(s[m] + 1e-5) * w[n]"),
                                       norm(32768, 2048, "x[m,n] * rsqrt(s[m] + 1e-6)")};

TEST(MemoryAcrossProblems, SixProblemsSaveTrialsOnSixOthers) {
  std::vector<Fact> facts;
  for (size_t i = 0; i < kTaught.size(); ++i) {
    const search::Record run = searched(fmt::format("taught {}", i), kTaught[i], nullptr);
    for (Fact& fact : facts_of(run.tree(), pieces_on(machine_of_tests()))) facts.push_back(std::move(fact));
  }
  EXPECT_GT(facts.size(), 60u);
  const auto memory = std::make_shared<const search::Memory>(facts);
  std::vector<search::Record> without, with;
  for (size_t i = 0; i < kNew.size(); ++i) {
    without.push_back(searched(fmt::format("new {}", i), kNew[i], nullptr));
    with.push_back(searched(fmt::format("new {}", i), kNew[i], memory));
  }
  const Result<search::Benefit> found = search::benefit_of(without, with, 0.95);
  ASSERT_TRUE(found.ok()) << found.error().text();
  for (const search::Paired& p : found->problems) {
    fmt::print("{}: {:.0f} trials without memory, {:.0f} with; final {:.3f} and {:.3f}\n", p.problem, p.without, p.with,
               p.final_without, p.final_with);
  }
  fmt::print("{} facts; with memory {:.2f} of the trials to 95 %, p = {:.3f}\n", facts.size(), found->ratio, found->p);
  EXPECT_LT(found->ratio, 0.75);
  for (const search::Paired& p : found->problems) EXPECT_GE(p.final_with, 0.98 * p.final_without) << p.problem;
}

// Two kernels of three settings, "a" twice as long as "b"; a candidate's text is its settings.
Formulation two_kernels() {
  const auto unroll = [](int value) {
    Schedule out{"map", {}};
    out.knobs.set("unroll", ir::KnobValue::of_int(value));
    return out;
  };
  const std::vector<Schedule> options = {unroll(1), unroll(2), unroll(4)};
  Formulation out;
  out.axes = {{"a", options, {Seconds(2), Seconds(2), Seconds(2)}},
              {"b", options, {Seconds(1), Seconds(1), Seconds(1)}}};
  out.structures = {{"kind a", "form", ""}, {"kind b", "form", ""}};
  out.render = [](const std::vector<Axis>& axes, const Choice& choice) -> Result<std::string> {
    std::string text;
    for (size_t a = 0; a < axes.size(); ++a) text += axes[a].kernel + " " + axes[a].options[choice[a]].text() + "\n";
    return text;
  };
  return out;
}

Fact learnt(const std::string& kind, const std::string& from, const std::string& to, double gain) {
  Fact out;
  out.structure = {kind, "form", ""};
  out.from = from;
  out.to = to;
  out.gain = gain;
  return out;
}

// Proposals with their texts and reasons: from the problem twice, then from the first.
std::vector<search::Proposal> proposals(const std::shared_ptr<const search::Memory>& memory, size_t count) {
  Expert expert({two_kernels()}, {}, memory);
  search::Tree tree(Seconds(10));
  std::vector<search::Proposal> out;
  while (out.size() < count) {
    const int from = out.size() < 2 ? 0 : 1;
    auto proposal = expert.propose(tree, from);
    EXPECT_TRUE(proposal.ok());
    if (!proposal.ok() || !*proposal) {
      if (from == 1) return out;
      count = std::max<size_t>(count, 2);
      proposal = expert.propose(tree, 1);
      if (!proposal.ok() || !*proposal) return out;
    }
    (*proposal)->parent = out.empty() ? 0 : from;
    out.push_back(**proposal);
    const int id = tree.add(std::move(**proposal))->id;
    search::Measurement m;
    m.state = TrialState::kVerified;
    m.time = Seconds(5);
    tree.complete(id, m);
  }
  return out;
}

TEST(MemoryAcrossProblems, WithoutFactsNothingChanges) {
  const std::vector<search::Proposal> without = proposals(nullptr, 5);
  const auto others = std::make_shared<const search::Memory>(
      std::vector<Fact>{learnt("another kind", "map(unroll=1)", "map(unroll=4)", 1)});
  for (const auto& memory : {std::make_shared<const search::Memory>(), others}) {
    const std::vector<search::Proposal> with = proposals(memory, 5);
    ASSERT_EQ(with.size(), without.size());
    for (size_t i = 0; i < with.size(); ++i) EXPECT_EQ(to_json(with[i]).dump(), to_json(without[i]).dump());
  }
  EXPECT_EQ(without[1].reason, "kernel a: map(unroll=2)");
}

TEST(MemoryAcrossProblems, OpensWithWhatGainedAndThenWithTheCostModelsChoice) {
  const auto memory = std::make_shared<const search::Memory>(std::vector<Fact>{
      learnt("kind b", "map(unroll=1)", "map(unroll=4)", 1), learnt("kind a", "map(unroll=1)", "map(unroll=2)", -1)});
  const std::vector<search::Proposal> made = proposals(memory, 2);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].settings, (std::vector<std::string>{"a map(unroll=1)", "b map(unroll=4)"}));
  EXPECT_NE(made[0].reason.find("what memory prefers, "), std::string::npos) << made[0].reason;
  EXPECT_GT(made[0].remembered, 0);
  EXPECT_EQ(made[1].settings, (std::vector<std::string>{"a map(unroll=1)", "b map(unroll=1)"}));
  EXPECT_EQ(made[1].reason, "the cost models' first choice");
}

TEST(MemoryAcrossProblems, WhatLostIsTriedAfterTheKernelsOtherSchedules) {
  const auto memory =
      std::make_shared<const search::Memory>(std::vector<Fact>{learnt("kind a", "map(unroll=1)", "map(unroll=2)", -1)});
  const std::vector<search::Proposal> made = proposals(memory, 9);
  ASSERT_EQ(made.size(), 5u) << "ordered, never refused";
  const auto place_of = [&](const char* setting) {
    return std::find_if(made.begin() + 1, made.end(),
                        [&](const search::Proposal& p) { return p.settings[0] == setting; });
  };
  const auto lost = place_of("a map(unroll=2)");
  EXPECT_LT(place_of("a map(unroll=4)"), lost);
  ASSERT_NE(lost, made.end());
  EXPECT_NE(lost->reason.find(" % slower by 1 fact of 1 kernel like it"), std::string::npos) << lost->reason;
  EXPECT_LT(lost->remembered, 0);
}

// The cost models find one kernel as fast as two, so it is tried before other schedules; not where it lost elsewhere.
TEST(MemoryAcrossProblems, OrdersCuts) {
  const Plan made = planned(kNew[0]);
  ASSERT_EQ(cut_text(made.formulation.cut), "0 | 1");
  const auto whole = formulate(made.formulation.equations, *parse_cut("0 1", *made.formulation.equations));
  ASSERT_TRUE(whole.ok());
  const auto second = [&](double gain) {
    Fact fact = learnt("", apart({"contraction: f32", "map: f32"}), kInOne, gain);
    fact.structure = whole->structures[0];
    Expert expert({made.formulation}, {}, std::make_shared<const search::Memory>(std::vector<Fact>{fact}));
    search::Tree tree(Seconds(1));
    search::Proposal out;
    for (const int from : {0, 1}) {
      auto proposal = expert.propose(tree, from);
      EXPECT_TRUE(proposal.ok() && *proposal);
      out = **proposal;
      (*proposal)->parent = from;
      const int id = tree.add(std::move(**proposal))->id;
      search::Measurement m;
      m.state = TrialState::kVerified;
      m.time = Seconds(0.5);
      tree.complete(id, m);
    }
    return out;
  };
  EXPECT_EQ(second(0).reason, "fuses gemm1 and map2");
  EXPECT_EQ(second(-1).reason.find("fuses"), std::string::npos) << second(-1).reason;
  EXPECT_NE(second(1).reason.find("fuses gemm1 and map2, "), std::string::npos) << second(1).reason;
  EXPECT_NE(second(1).reason.find(" % faster than the cost models say"), std::string::npos) << second(1).reason;
  EXPECT_GT(second(1).remembered, 0);
}

}  // namespace
}  // namespace solstice::propose
