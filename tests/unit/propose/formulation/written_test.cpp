// Programs that somebody else wrote, as what the expert varies.
#include "propose/formulation/written.h"

#include <gtest/gtest.h>

#include "ir/bind.h"
#include "propose/expert.h"
#include "propose/formulation/label.h"
#include "propose/formulation/plan.h"

namespace solstice::propose {
namespace {

constexpr const char* kProblemText = R"(program p
dim M = 4096, N = 8192
input  x : f32[M, N]
output y : f32[M, N]

e[m,n] = exp(x[m,n] - max[j](x[m,j]))
y[m,n] = e[m,n] / sum[j](e[m,j])
)";

constexpr const char* kWrittenText = R"(# by hand
program p
target h200
dim M = 4096, N = 8192
input  x : f32[M, N]
output y : f32[M, N]
tensor t : f32[M, N]

def half(a : f32[M, N]) -> b : f32[M, N] {
  kernel inner by map(threads=1024, vector=1, unroll=1) {
    b[m,n] = a[m,n]
  }
}

t = half(x)
kernel soft by rows(threads=32, residency=l2) {  # slow
  e[m,n] = exp(t[m,n] - max[j](t[m,j]))
  y[m,n] = e[m,n] / sum[j](e[m,j])
}
)";

const machine::Machine& machine_of_written() {
  static const machine::Machine machine = std::move(machine::load_machine("h200")).value();
  return machine;
}

Result<Formulation> written(const std::string& text) {
  return formulate_written(text, as_trial(7), {machine_of_written()});
}

TEST(Written, TheFirstChoiceIsTheTextAndOthersExchangeItsClauses) {
  const auto made = written(kWrittenText);
  ASSERT_TRUE(made.ok()) << made.error().text();
  ASSERT_EQ(made->axes.size(), 2u);
  const bool inner_first = made->axes[0].options.size() == 1;
  EXPECT_EQ(made->axes[inner_first ? 0 : 1].options.size(), 1u) << "a kernel of a definition keeps its schedule";
  const size_t soft = inner_first ? 1 : 0;
  EXPECT_EQ(made->axes[soft].options[0].text(), "rows(threads=32, residency=l2)");
  ASSERT_GT(made->axes[soft].options.size(), 3u);
  Choice choice(2, 0);
  EXPECT_EQ(*made->render(made->axes, choice), kWrittenText);
  for (size_t o = 1; o < made->axes[soft].options.size(); ++o) {
    choice[soft] = o;
    const auto text = made->render(made->axes, choice);
    ASSERT_TRUE(text.ok());
    Diagnostics diagnostics;
    const auto bound = ir::load_program(*text, "other.ucut", diagnostics);
    ASSERT_TRUE(bound.ok()) << *text;
    EXPECT_NE(text->find("# by hand\n"), text->npos);
    EXPECT_NE(text->find("kernel inner by map(threads=1024, vector=1, unroll=1) {"), text->npos);
    EXPECT_NE(text->find("kernel soft by " + made->axes[soft].options[o].family), text->npos);
    EXPECT_EQ(made->choice_of(made->settings_of(choice)), choice);
  }
}

TEST(Written, OtherWordsForTheSameCodeAreNoOption) {
  std::string plain = kWrittenText;
  plain.replace(plain.find("rows(threads=32, residency=l2)"), 30, "rows");
  const auto made = written(plain);
  ASSERT_TRUE(made.ok()) << made.error().text();
  const Axis& soft = made->axes.back();
  for (size_t o = 1; o < soft.options.size(); ++o) EXPECT_NE(soft.options[o].text(), soft.options[0].text());
  const auto other = written(kWrittenText);
  EXPECT_LT(soft.options.size(), other->axes.back().options.size())
      << "the family's own choice is what no knobs stand for";
}

TEST(Written, WhatCannotBeReadIsNone) {
  EXPECT_EQ(written("# attempt 3 brought no program\n").error().code, Code::program_invalid);
  EXPECT_EQ(written(kProblemText).error().code, Code::bad_argument);
}

TEST(Written, CommentsAreNotWhatTellsProgramsApart) {
  EXPECT_EQ(without_comments(kWrittenText).find('#'), std::string::npos);
  EXPECT_EQ(without_comments("no program"), "no program");
}

TEST(Label, NamesATrial) {
  EXPECT_EQ(trial_named(as_trial(17)), 17);
  for (const char* other : {"", "as trial  has it", "as trial x has it", "as trial 1", "rewritten by factor_sums",
                            "as trial 99999999999 has it"})
    EXPECT_FALSE(trial_named(other)) << other;
}

search::Measurement usable(Seconds time) {
  search::Measurement out;
  out.state = TrialState::kVerified;
  out.time = time;
  return out;
}

// The expert's usual search goes on from it too, and from what came of it, and tries nothing twice.
TEST(Written, TheExpertVariesIt) {
  auto problem = ir::bound_text(kProblemText, "p.ucut");
  ASSERT_TRUE(problem.ok());
  const auto planned = plan(std::make_shared<const ir::BoundText>(std::move(*problem)), {machine_of_written()});
  ASSERT_TRUE(planned.ok());
  search::Tree tree(Seconds(1));
  search::Proposal hand{.program = kWrittenText};
  hand.origin = "person";
  tree.add(hand);
  Expert early({planned->formulation});
  EXPECT_FALSE(*early.propose(tree, 1)) << "nobody knows yet whether it works";
  tree.complete(1, usable(Seconds(1e-3)));
  Expert expert({planned->formulation});
  int node = 1;
  for (int made = 0; made < 6; ++made) {
    Expert again({planned->formulation});
    const auto proposal = expert.propose(tree, node), same = again.propose(tree, node),
               late = early.propose(tree, node);
    ASSERT_TRUE(proposal.ok() && same.ok() && late.ok());
    ASSERT_TRUE(*proposal);
    EXPECT_EQ(to_json(**proposal).dump(), to_json(**same).dump());
    EXPECT_EQ(to_json(**proposal).dump(), to_json(**late).dump());
    EXPECT_EQ((*proposal)->equations, "as trial 1 has it");
    EXPECT_EQ((*proposal)->reason.find("kernel soft: "), 0u) << (*proposal)->reason;
    search::Proposal next = **proposal;
    next.parent = node;
    const search::Node* added = tree.add(std::move(next));
    ASSERT_TRUE(added) << "tried twice";
    tree.complete(added->id, usable(Seconds(1e-3 / (made + 2))));
    node = made % 2 == 0 ? added->id : 1;
  }
}

}  // namespace
}  // namespace solstice::propose
