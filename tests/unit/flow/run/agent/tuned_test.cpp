// The expert beside a language model: what the model wrote gets other schedules, and whoever goes on from the events
// alone does the same.
#include "flow/run/agent/tuned.h"

#include <gtest/gtest.h>

#include <set>

#include "evaluate/candidate.h"
#include "propose/formulation/label.h"
#include "propose/formulation/plan.h"
#include "search/make_policy.h"

namespace solstice::flow {
namespace {

const machine::Machine& tuned_machine() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

constexpr const char* kHead = R"(program p
dim M = 4096, N = 8192
param  g : f32[N] "g"
input  x : f32[M, N]
output y : f32[M, N]
)";

constexpr const char* kEquations = R"(
s[m,n] = x[m,n] * g[n]
e[m,n] = exp(s[m,n] - max[j](s[m,j]))
y[m,n] = e[m,n] / sum[j](e[m,j])
)";

// The model's programs: kernels with schedules that the cost models find slow, one of them after a kernel of its own
// code.
const std::vector<std::string>& model_texts() {
  static const std::vector<std::string> texts = {
      std::string(kHead) + R"(tensor s : f32[M, N]
# scale first
kernel scale by map(threads=1024, vector=1, unroll=1) {
  s[m,n] = x[m,n] * g[n]
}
kernel soft by rows(threads=32, residency=l2) {
  e[m,n] = exp(s[m,n] - max[j](s[m,j]))
  y[m,n] = e[m,n] / sum[j](e[m,j])  # twice
}
)",
      std::string(kHead) + R"(tensor s : f32[M, N]
source "k.cu" """
extern "C" __global__ void scale(const float* x, const float* g, float* s) {
  const int n = blockIdx.x * 256 + threadIdx.x;
  for (int m = 0; m < 4096; ++m) s[m * 8192 + n] = x[m * 8192 + n] * g[n];
}
"""
kernel scale by cuda("k.cu", entry="scale", args=(x, g, s), grid=32, block=256) {
  s[m,n] = x[m,n] * g[n]
}
kernel soft by rows(threads=32, residency=l2) {
  e[m,n] = exp(s[m,n] - max[j](s[m,j]))
  y[m,n] = e[m,n] / sum[j](e[m,j])
}
)",
      "# attempt 3 brought no program\n", std::string(kHead) + R"(kernel whole by rows(threads=32, residency=l2) {
  s[m,n] = x[m,n] * g[n]
  e[m,n] = exp(s[m,n] - max[j](s[m,j]))
  y[m,n] = e[m,n] / sum[j](e[m,j])
}
)"};
  return texts;
}

class ScriptedModel : public search::Proposer {
 public:
  Result<std::optional<search::Proposal>> propose(const search::Tree& tree, int) override {
    size_t asked = 0;
    for (const search::Node& node : tree.nodes()) asked += node.proposal.answer.empty() ? 0 : 1;
    if (asked == model_texts().size()) return std::optional<search::Proposal>();
    search::Proposal out;
    out.program = model_texts()[asked];
    out.reason = "text " + std::to_string(asked);
    out.answer = "{}";
    out.origin = "model";
    return std::optional(std::move(out));
  }
};

class ByCostModels : public search::InOrder {
 protected:
  void begin(const search::Node& node) override { programs_[node.id] = node.proposal.program; }
  Result<search::Measurement> finish(int node) override {
    search::Measurement out;
    const evaluate::Setting setting{tuned_machine()};
    const evaluate::Checked checked = evaluate::check(programs_[node], setting);
    if (!checked.ok() || checked.program->kernels.empty()) return out;
    const Result<Seconds> time = evaluate::predict(*checked.program, setting);
    if (!time.ok() || !evaluate::lower_text(programs_[node], setting).ok()) return out;
    out.state = TrialState::kPredicted;
    out.time = *time;
    return out;
  }

 private:
  std::map<int, std::string> programs_;
};

propose::Expert expert_of_problem() {
  auto problem = ir::bound_text(std::string(kHead) + kEquations, "p.ucut");
  EXPECT_TRUE(problem.ok());
  auto made = propose::plan(std::make_shared<const ir::BoundText>(std::move(*problem)), {tuned_machine()});
  EXPECT_TRUE(made.ok());
  std::vector<propose::Formulation> formulations;
  formulations.push_back(std::move(made->formulation));
  return propose::Expert(std::move(formulations));
}

// Goes on with a tree as a run does that has begun anew: with nothing but its events.
void go_on_with(search::Tree& tree, int tune, int trials) {
  propose::Expert expert = expert_of_problem();
  ScriptedModel model;
  Tuned tuned(expert, model, tune);
  ByCostModels device;
  const auto policy = search::make_policy("greedy", 1);
  search::Budget budget;
  budget.trials = trials;
  budget.time = Seconds(600);
  const auto stop = search::run(tree, {**policy, tuned, device}, budget, 1, {}, [] { return false; });
  EXPECT_TRUE(stop.ok()) << stop.error().text();
}

// With a first program of the model, from which it goes on.
search::Tree begun(int tune) {
  search::Tree tree(Seconds(1));
  go_on_with(tree, tune, 1);
  tree.spend(0);
  return tree;
}

std::vector<std::string> texts_of_tuned(const search::Tree& tree) {
  std::vector<std::string> out;
  for (const search::Event& event : tree.events()) out.push_back(to_json(event).dump());
  return out;
}

TEST(Tuned, WhatAModelWroteGetsOtherSchedules) {
  search::Tree tree = begun(2);
  go_on_with(tree, 2, 10);
  std::map<std::string, int> tuned;
  std::set<std::string> programs;
  int by_model = 0;
  for (const search::Node& node : tree.nodes()) {
    if (node.id == 0) continue;
    EXPECT_TRUE(programs.insert(node.proposal.program).second);
    by_model += node.proposal.answer.empty() ? 0 : 1;
    if (!node.proposal.answer.empty()) continue;
    EXPECT_EQ(node.proposal.origin, "expert");
    ASSERT_TRUE(propose::trial_named(node.proposal.equations)) << node.proposal.equations;
    ++tuned[node.proposal.equations];
    ASSERT_TRUE(node.usable()) << node.proposal.program;
    EXPECT_EQ(node.measurement->time, node.proposal.predicted) << "as the cost models say of the whole program";
    EXPECT_LT(node.measurement->time, tree.node(node.proposal.parent).measurement->time)
        << "only what is expected to gain";
  }
  EXPECT_EQ(by_model, 4);
  EXPECT_EQ(tuned.size(), 3u);
  for (const auto& [label, count] : tuned) EXPECT_LE(count, 2) << label;
  const search::Node& first = tree.node(2);
  EXPECT_EQ(first.proposal.equations, "as trial 1 has it");
  EXPECT_EQ(first.proposal.settings.size(), 2u);
  EXPECT_NE(first.proposal.program.find("# scale first\n"), std::string::npos) << first.proposal.program;
  EXPECT_NE(first.proposal.program.find("# twice"), std::string::npos);
  EXPECT_NE(first.proposal.reason.find("kernel scale: "), std::string::npos) << first.proposal.reason;
  EXPECT_NE(first.proposal.reason.find("; kernel soft: "), std::string::npos)
      << "both gain, and are tried at once first";
}

TEST(Tuned, CodeOfItsOwnStaysAsItIs) {
  search::Tree tree = begun(2);
  go_on_with(tree, 2, 10);
  int seen = 0;
  for (const search::Node& node : tree.nodes()) {
    const std::optional<int> base = propose::trial_named(node.proposal.equations);
    if (!base || tree.node(*base).proposal.program != model_texts()[1]) continue;
    ++seen;
    const std::string& text = node.proposal.program;
    EXPECT_NE(text.find(R"(kernel scale by cuda("k.cu", entry="scale", args=(x, g, s), grid=32, block=256) {)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("for (int m = 0; m < 4096; ++m) s[m * 8192 + n] = x[m * 8192 + n] * g[n];"), std::string::npos);
  }
  EXPECT_GT(seen, 0);
}

TEST(Tuned, WithoutTuningTheModelIsAskedAtOnce) {
  search::Tree tree = begun(0);
  go_on_with(tree, 0, 10);
  EXPECT_EQ(tree.trials(), 4);
  for (const search::Node& node : tree.nodes()) EXPECT_TRUE(node.id == 0 || node.proposal.origin == "model");
}

// Killed behind any event, a search goes on to the same tree.
TEST(Tuned, IsAFunctionOfTheTree) {
  search::Tree whole = begun(2);
  const size_t before = whole.events().size();
  go_on_with(whole, 2, 10);
  const std::vector<std::string> expected = texts_of_tuned(whole);
  for (size_t kept = before; kept < whole.events().size(); ++kept) {
    search::Tree tree;
    for (size_t i = 0; i < kept; ++i) ASSERT_TRUE(tree.apply(whole.events()[i]).ok());
    go_on_with(tree, 2, 10);
    EXPECT_EQ(texts_of_tuned(tree), expected) << "killed behind event " << kept;
  }
}

}  // namespace
}  // namespace solstice::flow
