// From candidates to facts: what a kernel is to memory, and which moves a search says something of.
#include "propose/facts/facts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "propose/expert.h"
#include "propose/facts/structure.h"
#include "propose/formulation/plan.h"
#include "record/verdict.h"

namespace solstice::propose {
namespace {

const machine::Machine& machine_of_facts() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

Plan plan_for(const std::string& text) {
  Result<ir::BoundText> problem = ir::bound_text(text, "p.ucut");
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  Result<Plan> made = plan(std::make_shared<const ir::BoundText>(std::move(*problem)), {machine_of_facts()});
  EXPECT_TRUE(made.ok()) << made.error().text();
  return std::move(*made);
}

std::string softmax_of(const std::string& in, int m, int n) {
  return "program p\ndim M = " + std::to_string(m) + ", N = " + std::to_string(n) + "\ninput " + in +
         " : f32[M, N]\noutput y : f32[M, N]\n\n" + "e[m,n] = exp(" + in + "[m,n] - max[j](" + in +
         "[m,j]))\ny[m,n] = e[m,n] / sum[j](e[m,j])\n";
}

constexpr const char* kLayer = R"(program layer
dim M = 1024, K = 4096, N = 4096
param  w : f32[N, K] "w"
param  b : f32[N] "b"
input  x : f32[M, K]
output y : f32[M, N]

z[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]
g[m,n] = gelu(z[m,n])
y[m,n] = g[m,n] / sum[j](g[m,j])
)";

TEST(Structure, HasNoNamesAndExtentsApart) {
  const Structure one = plan_for(softmax_of("x", 8192, 4096)).formulation.structures[0];
  EXPECT_EQ(one.kind, "max, sum: f32");
  EXPECT_EQ(one.extents, " 13 12 12; 13 12 12");
  EXPECT_EQ(one, plan_for(softmax_of("other", 8000, 4096)).formulation.structures[0]) << "8000 is about 8192";
  const Structure odd = plan_for(softmax_of("x", 8192, 4095)).formulation.structures[0];
  EXPECT_EQ(odd.form, one.form);
  EXPECT_NE(odd.extents, one.extents) << "vectors do not fit";
}

TEST(Structure, OfACandidatesTextIsThatOfItsFormulation) {
  const Plan made = plan_for(kLayer);
  const auto first = Expert({made.formulation}).propose(search::Tree(), 0);
  ASSERT_TRUE(first.ok() && *first);
  const std::optional<std::vector<Piece>> pieces = pieces_on(machine_of_facts())((*first)->program);
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), made.formulation.axes.size());
  for (size_t k = 0; k < pieces->size(); ++k) {
    const Schedule& schedule = made.formulation.axes[k].options[0];
    EXPECT_EQ((*pieces)[k].structure, made.formulation.structures[k]);
    EXPECT_EQ((*pieces)[k].setting, setting_text(schedule.family, schedule.knobs));
    EXPECT_EQ((*pieces)[k].cost, made.formulation.axes[k].predicted[0]);
  }
}

TEST(Facts, NoNameReachesASetting) {
  ir::Knobs knobs;
  ir::KnobValue tensor = ir::KnobValue::of_name("layer7_weight");
  tensor.tensor = 3;
  knobs.set("keep", tensor);
  EXPECT_EQ(setting_text("gemm", knobs), "gemm(keep=t)");
}

// A candidate's text is a line for each kernel: structure, setting, cost.
std::optional<std::vector<Piece>> lines(const std::string& program) {
  std::vector<Piece> out;
  std::istringstream in(program);
  for (std::string structure, setting; in >> structure >> setting;) {
    double cost = 1;
    in >> cost;
    out.push_back({{structure, structure, ""}, setting, Seconds(cost)});
  }
  return out;
}

int add(search::Tree& tree, int parent, const std::string& program, double seconds,
        TrialState state = TrialState::kVerified) {
  const int id = tree.add({.program = program, .parent = parent})->id;
  search::Measurement m;
  m.state = state;
  m.time = Seconds(seconds);
  m.noise = 0.003;
  tree.complete(id, m);
  return id;
}

TEST(Facts, OneChangeIsAFact) {
  search::Tree tree(Seconds(9));
  const int first = add(tree, 0, "a x 3\nb x 1\n", 8);
  const int faster = add(tree, first, "a y 3\nb x 1\n", 4);
  add(tree, first, "a y 3\nb z 1\n", 4);  // two changes: nobody knows whose gain it is
  add(tree, faster, "a z 3\nb x 1\n", 0, TrialState::kWrong);
  add(tree, faster, "a w 3\nb x 1\n", 2, TrialState::kPredicted);  // nobody measured it
  const std::vector<Fact> facts = facts_of(tree, lines);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].node, faster);
  EXPECT_EQ(facts[0].structure.kind, "a");
  EXPECT_EQ(facts[0].from, "x");
  EXPECT_EQ(facts[0].to, "y");
  EXPECT_DOUBLE_EQ(facts[0].gain, 1);
  EXPECT_DOUBLE_EQ(facts[0].share, 0.75);
  EXPECT_NEAR(facts[0].noise, 0.003 * std::sqrt(2.0), 1e-9);
  EXPECT_EQ(facts[1].state, TrialState::kWrong);
  EXPECT_EQ(facts[1].gain, 0);
}

// Something else may have had the room.
TEST(Facts, WhatFoundNoRoomOnTheGpuSaysNothing) {
  search::Tree tree(Seconds(9));
  const int first = add(tree, 0, "a x 3\n", 8);
  const int id = tree.add({.program = "a y 3\n", .parent = first})->id;
  search::Measurement m{.state = TrialState::kCrashed, .record = Json::object()};
  Verdict verdict;
  verdict.outcome = Outcome::kOutOfMemory;
  m.record.set("verdict", to_json(verdict));
  tree.complete(id, m);
  EXPECT_TRUE(facts_of(tree, lines).empty());
}

TEST(Facts, KernelsOfOneKindThatChangeAlikeAreOneFact) {
  search::Tree tree(Seconds(9));
  const int first = add(tree, 0, "a x 1\nb x 2\na x 1\n", 8);
  add(tree, first, "a y 1\nb x 2\na y 1\n", 6);
  const std::vector<Fact> facts = facts_of(tree, lines);
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].alike, 2);
  EXPECT_DOUBLE_EQ(facts[0].share, 0.5);
}

TEST(Facts, CutsAreFactsOfTheKernelThatIsWhole) {
  search::Tree tree(Seconds(9));
  const int whole = add(tree, 0, "ab x 3\nc x 1\n", 8);
  const int parts = add(tree, whole, "a x 1\nb x 1\nc x 1\n", 4);
  add(tree, parts, "a x 1\nbc x 1\n", 5);
  const std::vector<Fact> facts = facts_of(tree, lines);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].structure.kind, "ab");
  EXPECT_EQ(facts[0].from, "whole");
  EXPECT_EQ(facts[0].to, "apart(a | b)");
  EXPECT_DOUBLE_EQ(facts[0].share, 0.75);
  EXPECT_EQ(facts[1].structure.kind, "bc");
  EXPECT_EQ(facts[1].from, "apart(b | c)");
  EXPECT_EQ(facts[1].to, "whole");
}

TEST(Facts, CodeOfOnesOwnSaysNothingElsewhere) {
  search::Tree tree(Seconds(9));
  const int first = add(tree, 0, "a gemm() 1\n", 8);
  add(tree, first, "a cuda(\"k.cu\") 1\n", 4);
  EXPECT_TRUE(facts_of(tree, lines).empty());
}

// Real programs, real moves: a search of the layer yields facts of schedules and of a cut.
TEST(Facts, OfTheExpertsMoves) {
  const Plan made = plan_for(kLayer);
  Expert expert({made.formulation});
  search::Tree tree(Seconds(1));
  for (int i = 0, from = 0; i < 12; ++i) {
    auto proposal = expert.propose(tree, from);
    ASSERT_TRUE(proposal.ok());
    if (!*proposal) break;
    (*proposal)->parent = from;
    const int id = tree.add(std::move(**proposal))->id;
    search::Measurement m;
    m.state = TrialState::kVerified;
    m.time = Seconds(1 + 0.01 * i);
    tree.complete(id, m);
    from = 1;
  }
  const std::vector<Fact> facts = facts_of(tree, pieces_on(machine_of_facts()));
  EXPECT_GE(static_cast<int>(facts.size()), tree.trials() - 2) << "all but the opening";
  for (const Fact& fact : facts) {
    EXPECT_FALSE(fact.structure.kind.empty());
    EXPECT_GT(fact.share, 0);
    EXPECT_LE(fact.share, 1);
    for (const std::string& text : {fact.from, fact.to, fact.structure.form})
      EXPECT_EQ(text.find("layer"), std::string::npos);
  }
}

}  // namespace
}  // namespace solstice::propose
