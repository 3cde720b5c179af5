// Other cuts of a problem: as the planner's, in one step more or less, and as moves of the expert.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "propose/expert.h"
#include "propose/formulation/plan.h"

namespace solstice::propose {
namespace {

constexpr const char* kLinear = R"(program linear_gelu
dim M = 1024, K = 4096, N = 4096
param  w : f32[N, K] "w"
param  b : f32[N] "b"
input  x : f32[M, K]
output y : f32[M, N]

z[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]
y[m,n] = gelu(z[m,n])
)";

const machine::Machine& h200() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

std::shared_ptr<const ir::BoundText> bound(const char* text) {
  auto problem = ir::bound_text(text, "p.ucut");
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  return std::make_shared<const ir::BoundText>(std::move(*problem));
}

TEST(Recuts, FuseAndSplitAreEachOthersOpposite) {
  const auto problem = bound(kLinear);
  const PlanningContext context{h200()};
  const auto apart = cut_as(problem->program, {{0}, {1}}, context), whole = cut_as(problem->program, {{0, 1}}, context);
  ASSERT_TRUE(apart.ok() && whole.ok());
  const std::vector<Recut> from_apart = recuts(problem->program, *apart, context),
                           from_whole = recuts(problem->program, *whole, context);
  ASSERT_EQ(from_apart.size(), 1u);
  EXPECT_EQ(cut_text(from_apart[0].partition), "0 1");
  EXPECT_EQ(from_apart[0].step, "fuses gemm1 and map2");
  ASSERT_EQ(from_whole.size(), 1u);
  EXPECT_EQ(cut_text(from_whole[0].partition), "0 | 1");
  EXPECT_EQ(from_whole[0].step, "splits gemm1 before `y`");
  EXPECT_GT(from_whole[0].cost, Seconds(0));
}

TEST(Recuts, RepeatedLayersAreCutAlike) {
  const auto problem = bound(R"(program layers
dim M = 1024, N = 4096
param  w1 : f32[N, N] "w1"
param  w2 : f32[N, N] "w2"
param  w3 : f32[N, N] "w3"
input  x : f32[M, N]
output y3 : f32[M, N]

z1[m,n] = sum[k](x[m,k] * w1[n,k])
y1[m,n] = gelu(z1[m,n])
z2[m,n] = sum[k](y1[m,k] * w2[n,k])
y2[m,n] = gelu(z2[m,n])
z3[m,n] = sum[k](y2[m,k] * w3[n,k])
y3[m,n] = gelu(z3[m,n])
)");
  const PlanningContext context{h200()};
  const auto whole = cut_as(problem->program, {{0, 1}, {2, 3}, {4, 5}}, context);
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  std::set<std::string> cuts;
  for (const Recut& other : recuts(problem->program, *whole, context)) {
    cuts.insert(cut_text(other.partition) + ": " + other.step);
    EXPECT_TRUE(cut_as(
                    problem->program,
                    [&] {
                      std::vector<std::vector<int>> groups;
                      for (const Group& group : other.partition.groups) groups.push_back(group.equations);
                      return groups;
                    }(),
                    context)
                    .ok());
  }
  EXPECT_TRUE(cuts.contains("0 | 1 | 2 | 3 | 4 | 5: splits gemm1 before `y1`, and 2 alike"))
      << fmt::format("{}", fmt::join(cuts, "\n"));
}

TEST(Recuts, ACutIsReadAsItWasWritten) {
  const auto problem = bound(kLinear);
  const Equations equations{problem, {h200()}};
  for (const char* text : {"0 1", "0 | 1"}) {
    const auto cut = parse_cut(text, equations);
    ASSERT_TRUE(cut.ok()) << cut.error().text();
    EXPECT_EQ(cut_text(*cut), text);
  }
  for (const char* wrong : {"", "0", "0 0", "0 | 2", "0 1 |", "0 x", "0 | | 1", "-1 0"}) {
    EXPECT_FALSE(parse_cut(wrong, equations).ok()) << wrong;
  }
}

// Every candidate is new; a proposer that starts again on the same tree proposes what the first one would have.
TEST(Recuts, AreMovesOfTheExpert) {
  const auto planned = plan(bound(kLinear), {h200()});
  ASSERT_TRUE(planned.ok());
  Expert expert({planned->formulation});
  search::Tree tree(Seconds(1));
  std::set<std::string> cuts, programs;
  for (int node = 0; tree.trials() < 24;) {
    Expert again({planned->formulation});
    const auto proposal = expert.propose(tree, node), same = again.propose(tree, node);
    ASSERT_TRUE(proposal.ok() && same.ok());
    ASSERT_EQ(proposal->has_value(), same->has_value());
    if (!*proposal) {
      tree.spend(node);
      if (++node > tree.trials()) break;
      continue;
    }
    EXPECT_EQ((*proposal)->program, (*same)->program);
    cuts.insert((*proposal)->cut);
    EXPECT_TRUE(programs.insert((*proposal)->program).second);
    search::Proposal next = **proposal;
    next.parent = node;
    const int id = tree.add(std::move(next))->id;
    search::Measurement m;
    m.state = TrialState::kVerified;
    m.time = (*proposal)->predicted;
    tree.complete(id, m);
    if (node == 0) node = 1;
  }
  EXPECT_EQ(cuts, (std::set<std::string>{"0 1", "0 | 1"}));
  EXPECT_GT(programs.size(), 10u);
}

// What an earlier run found in another cut opens the next one.
TEST(Recuts, TheFastestOfEarlierRunsMayBeAnotherCut) {
  const auto planned = plan(bound(kLinear), {h200()});
  ASSERT_TRUE(planned.ok());
  const std::string other = cut_text(planned->formulation.cut) == "0 1" ? "0 | 1" : "0 1";
  const auto parts = parse_cut(other, *planned->formulation.equations);
  ASSERT_TRUE(parts.ok());
  const auto made = formulate(planned->formulation.equations, *parts);
  ASSERT_TRUE(made.ok());
  const Choice first(made->axes.size(), 0);
  const Known known{made->settings_of(first), *made->render(made->axes, first), Seconds(1e-4), "", other};
  const auto opening = Expert({planned->formulation}, {known}).propose(search::Tree(Seconds(1)), 0);
  ASSERT_TRUE(opening.ok() && *opening);
  EXPECT_EQ((*opening)->cut, other);
  EXPECT_EQ((*opening)->known, Seconds(1e-4));
}

}  // namespace
}  // namespace solstice::propose
