// Memory across problems, on problems whose true times differ from the cost models' in ways that kernels of one kind share: no GPU
// is needed to see that what six of them teach helps with six others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "propose/expert.h"
#include "propose/facts.h"
#include "propose/plan.h"
#include "propose/structure.h"
#include "search/benefit.h"

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
      "program linear\ndim M = {}, K = {}, N = {}\nparam w : f32[N, K] \"w\"\ninput x : f32[M, K]\noutput y : f32[M, N]\n\n"
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

// What the cost models do not know: of each part of a setting, for kernels of one kind and, less, for those of one form.
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

search::Record searched(const std::string& name, const std::string& text, std::shared_ptr<const search::Memory> memory) {
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

const std::vector<std::string> kTaught = {linear(1024, 4096, 4096, "gelu(z[m,n])"), linear(4096, 1024, 8192, "max(z[m,n], 0.0)"),
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
    fmt::print("{}: {:.0f} trials without memory, {:.0f} with; final {:.3f} and {:.3f}\n", p.problem, p.without, p.with, p.final_without,
               p.final_with);
  }
  fmt::print("{} facts; with memory {:.2f} of the trials to 95 %, p = {:.3f}\n", facts.size(), found->ratio, found->p);
  EXPECT_LT(found->ratio, 0.8);
  for (const search::Paired& p : found->problems) EXPECT_GE(p.final_with, 0.98 * p.final_without) << p.problem;
}

}  // namespace
}  // namespace solstice::propose
