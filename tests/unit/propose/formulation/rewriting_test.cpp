// Single rewrites of a problem's equations, as labels name them and as moves of the expert.
#include "propose/formulation/rewriting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "ir/equivalence.h"
#include "lang/print.h"
#include "propose/expert.h"
#include "propose/facts/facts.h"
#include "propose/formulation/label.h"
#include "propose/formulation/plan.h"
#include "search/make_policy.h"

namespace solstice::propose {
namespace {

const machine::Machine& machine_of_rewriting() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

// Two norms: their statistics may be apart in one, both or none; and scalars that fold.
constexpr const char* kNorms = R"(program norms
dim M = 2048, N = 4096
input  x : f32[M, N]
input  a : f32[M, N]
output y : f32[M, N]
output z : f32[N]

s[m,n] = (x[m,n] * 2.0) * 3.0
y[m,n] = (s[m,n] - mean[j](s[m,j])) * rsqrt(var[j](s[m,j]) + 1e-5)
z[n] = var[k](a[k,n])
)";

std::shared_ptr<const ir::BoundText> text_of_problem(const char* text) {
  auto problem = ir::bound_text(text, "p.ucut");
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  return std::make_shared<const ir::BoundText>(std::move(*problem));
}

// A monotone map in front of two maxima: moving it behind one saves nothing while the other needs it, so the driver
// leaves both.
constexpr const char* kMaxima = R"(program maxima
dim B = 4096, C = 128, H = 256
input  x : f32[B, C, H]
output y : f32[B, C]
output z : f32[B, H]

e[b,c,h] = exp(x[b,c,h] * 0.5)
y[b,c] = max[h](e[b,c,h])
z[b,h] = max[c](e[b,c,h])
)";

TEST(Rewriting, ALabelIsReadAsItWasWritten) {
  const auto* split = ir::find_rewrite("split_statistics");
  const auto* fold = ir::find_rewrite("fold_scalars");
  const std::vector<RewriteStep> steps = {{split, "y", 0}, {fold, "a.b", 2}};
  EXPECT_EQ(label_of(steps), "rewritten by split_statistics at `y`, fold_scalars at piece 3 of `a.b`");
  EXPECT_EQ(steps_named(label_of(steps)), steps);
  EXPECT_TRUE(is_rewritten(label_of(steps)));
  for (const char* other : {"", "rewritten by ", "rewritten by factor_sums, fold_scalars",
                            "rewritten by fold_scalars at `y`, nothing at `z`", "rewritten by fold_scalars at ``",
                            "rewritten by fold_scalars at piece 0 of `y`",
                            "rewritten by fold_scalars at piece x of `y`", "as trial 3 has it"})
    EXPECT_FALSE(steps_named(other)) << other;
}

// What the driver does to the end is the same step by step, so that each step can be left out.
TEST(Rewriting, TheDriversStepsOneByOne) {
  const auto problem = text_of_problem(kNorms);
  const auto whole = ir::rewrite_all(*problem);
  ASSERT_TRUE(whole.ok());
  ASSERT_FALSE(whole->steps.empty());
  std::vector<RewriteStep> steps;
  for (const ir::Site& site : whole->steps) steps.push_back(step_of(site));
  const auto again = rewritten(*problem, steps);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(lang::print(again->tree), lang::print(whole->result.tree));
}

TEST(Rewriting, OneMoreAtEachPlaceAndOneLess) {
  const auto problem = text_of_problem(kNorms);
  std::set<std::string> found;
  for (const Rewording& one : rewordings(*problem, {problem, {}})) found.insert(label_of(one.steps));
  EXPECT_TRUE(found.contains("rewritten by split_statistics at `y`")) << fmt::format("{}", fmt::join(found, "\n"));
  EXPECT_TRUE(found.contains("rewritten by split_statistics at `z`"));
  EXPECT_TRUE(found.contains("rewritten by fold_scalars at `s`"));
  const std::vector<RewriteStep> two = *steps_named("rewritten by split_statistics at `z`, fold_scalars at `s`");
  const auto text = rewritten(*problem, two);
  ASSERT_TRUE(text.ok());
  found.clear();
  for (const Rewording& one : rewordings(*text, {problem, two})) found.insert(label_of(one.steps) + ": " + one.reason);
  EXPECT_TRUE(found.contains("rewritten by fold_scalars at `s`: without split_statistics at `z`"));
  EXPECT_TRUE(rewordings(*problem, {}).empty()) << "without --rewrites";
}

TEST(Rewriting, OnlyWhatKeepsNanOnRequest) {
  const auto problem = text_of_problem(kNorms);
  const std::vector<Rewording> found = rewordings(*problem, {problem, {}}, true);
  EXPECT_FALSE(found.empty());
  for (const Rewording& one : found) EXPECT_TRUE(keeps_nonfinite(label_of(one.steps))) << label_of(one.steps);
}

// The problem as it is and as the driver makes it, as a run opens with them.
std::vector<Formulation> openings(const char* text) {
  const auto problem = text_of_problem(text);
  auto plain = plan(problem, {machine_of_rewriting()});
  EXPECT_TRUE(plain.ok());
  std::vector<Formulation> out;
  out.push_back(std::move(plain->formulation));
  auto driven = ir::rewrite_all(*problem);
  EXPECT_TRUE(driven.ok());
  if (driven->steps.empty()) return out;
  Derivation from{problem, {}};
  for (const ir::Site& site : driven->steps) from.steps.push_back(step_of(site));
  auto other =
      plan(std::make_shared<const ir::BoundText>(std::move(driven->result)), {machine_of_rewriting()}, std::move(from));
  EXPECT_TRUE(other.ok());
  other->formulation.label = "rewritten by what the driver does";
  out.push_back(std::move(other->formulation));
  return out;
}

// A search by the cost models, with what each candidate computes. Killed behind any event it goes on the same.
void search_on(search::Tree& tree, const char* text, int trials) {
  Expert expert(openings(text));
  class Models : public search::InOrder {
   protected:
    void begin(const search::Node& node) override { programs_[node.id] = node.proposal.program; }
    Result<search::Measurement> finish(int node) override {
      search::Measurement out;
      const auto pieces = pieces_on(machine_of_rewriting())(programs_[node]);
      if (!pieces) return fail(Code::internal, "no legal program: " + programs_[node]);
      out.state = TrialState::kVerified;
      for (const Piece& piece : *pieces) out.time += piece.cost;
      return out;
    }

   private:
    std::map<int, std::string> programs_;
  } models;
  const auto policy = search::make_policy("greedy", 1);
  search::Budget budget;
  budget.trials = trials;
  budget.time = Seconds(600);
  const auto stop = search::run(tree, {**policy, expert, models}, budget, 1, {}, [] { return false; });
  EXPECT_TRUE(stop.ok()) << stop.error().text();
}

std::vector<std::string> texts_of_rewriting(const search::Tree& tree) {
  std::vector<std::string> out;
  for (const search::Event& event : tree.events()) out.push_back(to_json(event).dump());
  return out;
}

TEST(Rewriting, IsAMoveOfTheExpert) {
  search::Tree tree(Seconds(1));
  search_on(tree, kNorms, 80);
  std::set<std::string> programs;
  std::map<std::string, int> entered;
  for (const search::Node& node : tree.nodes()) {
    if (node.id == 0) continue;
    EXPECT_TRUE(programs.insert(node.proposal.program).second) << "tried twice";
    const std::string& label = node.proposal.equations;
    if (!steps_named(label) || tree.node(node.proposal.parent).proposal.equations == label) continue;
    ++entered[unordered(label)];
    EXPECT_EQ(node.proposal.reason.find(label + ": "), 0u) << node.proposal.reason;
    EXPECT_LE(node.proposal.predicted, tree.node(node.proposal.parent).proposal.predicted * 1.5);
  }
  EXPECT_GE(entered.size(), 1u);
  for (const auto& [label, count] : entered) EXPECT_EQ(count, 1) << label;
}

// The formulation that is fastest by the cost models is none that a run opens with.
// A convolution whose bias cancels in a normalisation that keeps running statistics; then a pooling behind an
// activation and a mean of a product.
constexpr const char* kBlock = R"(program block
dim B = 16, C = 32, K = 64, H = 32, P = H//2, N = 10
param  w : f32[K, C, 3, 3] "conv.weight"
param  b : f32[K] "conv.bias"
param  g : f32[K] "bn.weight"
param  be : f32[K] "bn.bias"
param  v : f32[N, K] "fc.weight"
buffer rm : f32[K] "bn.running_mean"
input  x : f32[B, C, H, H]
tensor rm_new : f32[K] into rm
output y : f32[B, N]

c[n,k,p,q] = sum[i,r,s](x[n,i,p+r-1,q+s-1 else 0] * w[k,i,r,s]) + b[k] for p<H, q<H
mu[k] = mean[n,p,q](c[n,k,p,q])
vr[k] = var[n,p,q](c[n,k,p,q])
z[n,k,p,q] = (c[n,k,p,q] - mu[k]) * rsqrt(vr[k] + 1e-5) * g[k] + be[k]
rm_new[k] = 0.9 * rm[k] + 0.1 * select(isfinite(mu[k]), mu[k], inf - inf)
a[n,k,p,q] = leaky_relu(z[n,k,p,q], 0.2)
m[n,k,p,q] = max[i<2,j<2](a[n,k,2*p+i,2*q+j]) for p<P, q<P
l[n,j,p,q] = sum[k](m[n,k,p,q] * v[j,k])
t[n,j,p,q] = clamp(clamp(l[n,j,p,q], 0, 1) * 2.0, 0, 1) / 2.0
y[n,j] = mean[p,q](t[n,j,p,q]) + mean[p,q](l[n,j,p,q])
)";

// Of the equations that one rewrite and then another lead to, none is left without a verdict in the time of a trial
// (evaluate/meaning.h).
TEST(Rewriting, LeadsToWhatIsProved) {
  ir::EquivalenceOptions quick;
  quick.point_operations = 20'000'000;
  quick.most_operations = 2'000'000;
  std::set<std::string> seen, used;
  for (const char* text : {kNorms, kMaxima, kBlock}) {
    const auto problem = text_of_problem(text);
    for (const Rewording& one : rewordings(*problem, {problem, {}})) {
      const auto first = rewritten(*problem, one.steps);
      ASSERT_TRUE(first.ok()) << first.error().text();
      std::vector<Rewording> all = rewordings(*first, {problem, one.steps});
      all.push_back(one);
      for (const Rewording& other : all) {
        if (!seen.insert(text + unordered(label_of(other.steps))).second) continue;
        const auto last = rewritten(*problem, other.steps);
        ASSERT_TRUE(last.ok()) << last.error().text();
        const ir::Equivalence found = ir::same_meaning(problem->tree, last->tree, quick);
        EXPECT_EQ(found.verdict, ir::Verdict::kProved) << label_of(other.steps) << ": " << found.reason;
        for (const RewriteStep& step : other.steps) used.insert(std::string(step.rewrite->name));
      }
    }
  }
  EXPECT_GE(seen.size(), 20u);
  for (const char* name : {"cancel_bias", "commute_monotone", "factor_sums", "fold_scalars", "split_statistics"})
    EXPECT_TRUE(used.contains(name)) << name;
}

TEST(Rewriting, ReachesWhatTheDriverMisses) {
  const auto driven = ir::rewrite_all(*text_of_problem(kMaxima));
  ASSERT_TRUE(driven.ok());
  EXPECT_TRUE(driven->steps.empty());
  search::Tree tree(Seconds(1));
  search_on(tree, kMaxima, 40);
  const search::Node& best = *tree.best();
  EXPECT_TRUE(steps_named(best.proposal.equations)) << best.proposal.reason;
  Seconds own(1);
  for (const search::Node& node : tree.nodes()) {
    if (node.id > 0 && node.proposal.equations.empty()) own = std::min(own, node.measurement->time);
  }
  EXPECT_LT(best.measurement->time, own * 0.85);
}

TEST(Rewriting, TheFastestOfEarlierRunsMayBeOfAnotherFormulation) {
  search::Tree tree(Seconds(1));
  search_on(tree, kMaxima, 40);
  const search::Proposal& best = tree.best()->proposal;
  const Known known{best.settings, best.program, Seconds(1e-4), best.equations, best.cut};
  const auto opening = Expert(openings(kMaxima), {known}).propose(search::Tree(Seconds(1)), 0);
  ASSERT_TRUE(opening.ok() && *opening);
  EXPECT_EQ((*opening)->program, best.program);
  EXPECT_EQ((*opening)->known, Seconds(1e-4));
  Known fails = known;  // of a program that a model wrote in that run: its number says nothing here
  fails.equations = as_trial(3);
  const auto other = Expert(openings(kMaxima), {fails}).propose(search::Tree(Seconds(1)), 0);
  ASSERT_TRUE(other.ok() && *other);
  EXPECT_EQ((*other)->reason, "the cost models' first choice");
}

// Killed behind any event, a search goes on to the same tree: what a label names is found again.
TEST(Rewriting, ASearchGoesOnFromItsLabels) {
  search::Tree whole(Seconds(1));
  search_on(whole, kNorms, 60);
  const std::vector<std::string> expected = texts_of_rewriting(whole);
  for (size_t kept = 1; kept < whole.events().size(); kept += 5) {
    search::Tree tree;
    for (size_t i = 0; i < kept; ++i) ASSERT_TRUE(tree.apply(whole.events()[i]).ok());
    search_on(tree, kNorms, 60);
    EXPECT_EQ(texts_of_rewriting(tree), expected) << "killed behind event " << kept;
  }
}

TEST(Rewriting, SaysWhatKeepsNanAndInfinities) {
  EXPECT_TRUE(keeps_nonfinite(""));
  EXPECT_TRUE(keeps_nonfinite("as trial 3 has it"));
  EXPECT_TRUE(keeps_nonfinite("rewritten by split_statistics at piece 2 of `y`, drop_dead at `z`"));
  EXPECT_FALSE(keeps_nonfinite("rewritten by split_statistics at `y`, factor_sums at `z`"));
  EXPECT_FALSE(keeps_nonfinite("rewritten by factor_sums, fold_scalars"));
  EXPECT_FALSE(keeps_nonfinite("rewritten by leave_out_zeros at `y`"));
  EXPECT_FALSE(keeps_nonfinite("rewritten by what_is_not_there"));
}

}  // namespace
}  // namespace solstice::propose
