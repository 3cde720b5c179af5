#include "search/policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "search/make_policy.h"

namespace solstice::search {
namespace {

std::optional<Decision> decide(const std::string& policy, const Tree& tree, uint64_t seed = 1) {
  const auto mind = make_policy(policy, seed);
  EXPECT_TRUE(mind.ok()) << mind.error().text();
  const auto decision = (*mind)->decide(tree);
  EXPECT_TRUE(decision.ok()) << decision.error().text();
  return decision.ok() ? *decision : std::nullopt;
}

int chosen(const std::string& policy, const Tree& tree, uint64_t seed = 1) {
  const auto decision = decide(policy, tree, seed);
  return decision ? decision->node : -1;
}

// A child of `parent`; 0 seconds: it fails.
int grow(Tree& tree, int parent, double seconds, Precision precision = Precision::kUsual) {
  const int id =
      tree.add({.program = std::to_string(tree.nodes().size()), .parent = parent, .precision = precision})->id;
  Measurement m;
  m.state = seconds > 0 ? TrialState::kVerified : TrialState::kWrong;
  m.time = Seconds(seconds);
  tree.complete(id, m);
  return id;
}

TEST(Policy, WhatIsWrongIsSaid) {
  const auto why = [](const std::string& text) {
    const auto made = make_policy(text, 1);
    return made.ok() ? std::string() : made.error().sentence();
  };
  EXPECT_EQ(why("mcts(exploration=2.5, prune=2)"), "");
  EXPECT_NE(
      why("mtcs").find("there are beam, epsilon-greedy, greedy, mcts, random, successive-halving, and command:PROGRAM"),
      std::string::npos);
  EXPECT_NE(why("beam(depth=3)").find("has no parameter `depth`; it has width, branch"), std::string::npos)
      << why("beam(depth=3)");
  EXPECT_NE(why("beam(width=0)").find("a whole number from 1 to 1000, not `0`"), std::string::npos);
  EXPECT_NE(why("beam(width=1.5)").find("whole number"), std::string::npos);
  EXPECT_NE(why("epsilon-greedy(epsilon=x)").find("not `x`"), std::string::npos);
  EXPECT_NE(why("beam(width=2").find("closing parenthesis"), std::string::npos);
}

TEST(Policy, EveryParameterHasADefaultInItsRangeAndHelp) {
  for (const PolicySpec* spec : all_policies()) {
    EXPECT_FALSE(spec->about.empty()) << spec->name;
    for (const Parameter& p : spec->parameters) {
      EXPECT_TRUE(p.least <= p.usual && p.usual <= p.most && !p.help.empty()) << spec->name << " " << p.name;
    }
  }
}

TEST(Policy, NothingIsLeftWhereAllIsSpent) {
  for (const PolicySpec* spec : all_policies()) {
    Tree tree(Seconds(4));
    EXPECT_EQ(chosen(std::string(spec->name), tree), 0) << spec->name;
    tree.spend(0);
    EXPECT_EQ(chosen(std::string(spec->name), tree), -1) << spec->name;
  }
}

TEST(Greedy, ClimbsFromTheFastestThatHasMovesLeft) {
  Tree tree(Seconds(4));
  EXPECT_EQ(chosen("greedy", tree), 0);
  const int slow = grow(tree, 0, 5);
  EXPECT_EQ(chosen("greedy", tree), 0) << "two starts";
  const int fast = grow(tree, 0, 3);
  EXPECT_EQ(chosen("greedy", tree), fast);
  tree.spend(fast);
  EXPECT_EQ(chosen("greedy", tree), slow);
}

// Cost models promise more than kernels keep: what they promise is gone on from where nothing was measured, or last.
TEST(Policy, GoesOnFromWhatWasMeasuredFirst) {
  Tree tree(Seconds(4));
  Measurement predicted;
  predicted.state = TrialState::kPredicted;
  predicted.time = Seconds(1);
  tree.complete(tree.add({.program = "a"})->id, predicted);
  tree.complete(tree.add({.program = "b"})->id, predicted);
  EXPECT_EQ(ranked(tree, {0, 1, 2}), (std::vector<int>{2, 1, 0}));
  grow(tree, 0, 3);
  grow(tree, 0, 1);
  tree.complete(tree.add({.program = "c"})->id, predicted);  // as fast, and newer
  EXPECT_EQ(ranked(tree, {0, 1, 2, 3, 4, 5}), (std::vector<int>{4, 3, 0, 5, 2, 1}));
  for (const char* policy : {"greedy", "epsilon-greedy(epsilon=0)"}) EXPECT_EQ(chosen(policy, tree), 4) << policy;
}

TEST(EpsilonGreedy, ClosesTheRootAndDeadBranches) {
  Tree tree(Seconds(1));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(chosen("epsilon-greedy(epsilon=0)", tree), 0) << "the original is the fastest";
    grow(tree, 0, 2.0 + i);
  }
  EXPECT_EQ(chosen("epsilon-greedy(epsilon=0)", tree), 1) << "the root is closed";
  for (int i = 0; i < 3; ++i) grow(tree, 1, 0);
  EXPECT_EQ(chosen("epsilon-greedy(epsilon=0)", tree), 1);
  grow(tree, 1, 0);
  EXPECT_EQ(chosen("epsilon-greedy(epsilon=0)", tree), 2) << "four children, all failing";
  grow(tree, 1, 9);
  EXPECT_EQ(chosen("epsilon-greedy(epsilon=0)", tree), 1) << "one of them works";
}

TEST(EpsilonGreedy, ExploresLeavesAlone) {
  Tree tree(Seconds(4));
  const int inner = grow(tree, 0, 2);
  for (int i = 0; i < 6; ++i) grow(tree, inner, i % 2 ? 3 : 0);
  std::map<int, int> count;
  for (uint64_t seed = 0; seed < 700; ++seed) ++count[chosen("epsilon-greedy(epsilon=1)", tree, seed)];
  EXPECT_EQ(count.size(), 6u);
  for (const auto& [node, times] : count)
    EXPECT_TRUE(node > inner && times > 70 && times < 170) << node << ": " << times;
}

TEST(Mcts, WidensAndPrunes) {
  Tree tree(Seconds(4));
  const int first = grow(tree, 0, 2);
  EXPECT_EQ(chosen("mcts(widening=0.5)", tree), 0) << "two visits may have two children";
  grow(tree, 0, 4);
  EXPECT_EQ(chosen("mcts(widening=0.5)", tree), first) << "as seldom visited, better";
  for (int i = 0; i < 3; ++i) grow(tree, first, 0);
  EXPECT_NE(chosen("mcts", tree), first) << "three failures in a row";
}

TEST(Mcts, WhatIsInFlightIsNotChosenAgain) {
  Tree tree(Seconds(4));
  const int a = grow(tree, 0, 2), b = grow(tree, 0, 2);
  EXPECT_EQ(chosen("mcts(root_children=2)", tree), b);
  tree.add({.program = "x", .parent = b});
  EXPECT_EQ(chosen("mcts(root_children=2)", tree), a);
}

TEST(Beam, ALevelIsWholeBeforeTheNext) {
  Tree tree(Seconds(4));
  const std::string beam = "beam(width=2, branch=3)";
  const int a = grow(tree, 0, 3), b = grow(tree, 0, 1);
  const int flying = tree.add({.program = "x", .parent = 0})->id;
  EXPECT_EQ(chosen(beam, tree), -1);
  Measurement m;
  m.state = TrialState::kVerified;
  m.time = Seconds(2);
  tree.complete(flying, m);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(chosen(beam, tree), b);
    grow(tree, b, 2.5);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(chosen(beam, tree), flying);
    grow(tree, flying, 1.5);
  }
  EXPECT_NE(chosen(beam, tree), a) << "not in the beam";
}

// Also where no node has room for as many children yet.
TEST(Beam, OfManyBranchesTakesTheFastestToo) {
  Tree tree(Seconds(4));
  const int a = grow(tree, 0, 3), b = grow(tree, 0, 1);
  tree.spend(0);
  EXPECT_EQ(chosen("beam(branch=100)", tree), b);
  tree.spend(b);
  EXPECT_EQ(chosen("beam(branch=100)", tree), a);
}

TEST(SuccessiveHalving, MeasuresFewPrecisely) {
  Tree tree(Seconds(4));
  const std::string policy = "successive-halving(first=4, keep=2)";
  for (int i = 0; i < 4; ++i) {
    const auto next = decide(policy, tree);
    ASSERT_TRUE(next && !next->again && next->precision == Precision::kRough);
    grow(tree, 0, 4.0 - i, Precision::kRough);
  }
  std::vector<std::pair<int, Precision>> repeated;
  for (auto next = decide(policy, tree); next && next->again; next = decide(policy, tree)) {
    repeated.emplace_back(next->node, next->precision);
    tree.again(next->node, next->precision);
    EXPECT_FALSE(decide(policy, tree)) << "waits for it";
    Measurement m = *tree.node(next->node).measurement;
    tree.complete(next->node, m);
  }
  EXPECT_EQ(repeated, (std::vector<std::pair<int, Precision>>{
                          {4, Precision::kUsual}, {3, Precision::kUsual}, {4, Precision::kPrecise}}));
  EXPECT_EQ(decide(policy, tree)->node, 4) << "the next round's parent";
}

// A policy in ten lines of shell: always the newest node.
TEST(External, AnExecutableDecides) {
  const auto folder = TempFolder::create("policy-");
  ASSERT_TRUE(folder.ok());
  const std::string script = (folder->path() / "newest.sh").string();
  ASSERT_TRUE(write_file(script, R"(read hello; echo '{"name": "newest"}'; n=0
while read line; do
  for node in $(echo "$line" | grep -o '"kind":"measured","node":[0-9]*' | grep -o '[0-9]*$'); do n=$node; done
  if [ "$n" = 3 ]; then echo '{"expand": 77}'; else echo "{\"expand\": $n}"; fi
done
)")
                  .ok());
  const auto mind = make_policy("command:sh " + script, 1);
  ASSERT_TRUE(mind.ok()) << mind.error().text();
  Tree tree(Seconds(4));
  for (int expected = 0; expected < 3; ++expected) {
    const auto decision = (*mind)->decide(tree);
    ASSERT_TRUE(decision.ok() && *decision) << decision.error().text();
    EXPECT_EQ((*decision)->node, expected);
    grow(tree, expected, 3.0 - 0.5 * expected);
  }
  const auto nonsense = (*mind)->decide(tree);
  ASSERT_FALSE(nonsense.ok());
  EXPECT_NE(nonsense.error().message.find("there is no such node"), std::string::npos) << nonsense.error().message;
  const auto missing = make_policy("command:no-such-policy-program", 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().hint.find("`solstice list policies`"), std::string::npos);
}

// Whatever it does wrong: no JSON, another greeting, nothing at all.
TEST(External, EveryFailureHasAWayOut) {
  const auto folder = TempFolder::create("policy-");
  ASSERT_TRUE(folder.ok());
  const std::string script = (folder->path() / "wrong.sh").string();
  const std::pair<const char*, const char*> wrong[] = {{"read hello; echo '<html>'", "`<html>` is no JSON"},
                                                       {"read hello; echo 3", "is answered with an object"},
                                                       {"read hello; exit 3", "exited with code 3"},
                                                       {"read hello; echo '{}'; read events", "exited with code"}};
  for (const auto& [text, why] : wrong) {
    ASSERT_TRUE(write_file(script, std::string(text) + "\n").ok());
    const auto mind = make_policy("command:sh " + script, 1);
    ASSERT_TRUE(mind.ok()) << mind.error().text();
    const auto decision = (*mind)->decide(Tree(Seconds(4)));
    ASSERT_FALSE(decision.ok()) << text;
    EXPECT_NE(decision.error().message.find(why), std::string::npos) << decision.error().text();
    EXPECT_TRUE(decision.error().message.starts_with("policy `command:sh ")) << decision.error().text();
    EXPECT_NE(decision.error().hint.find("docs/search.md#a-policy-of-your-own"), std::string::npos);
  }
}

// It takes no trial, and would go on for ever.
TEST(External, MeasuresNothingAgainAsBefore) {
  const auto folder = TempFolder::create("policy-");
  ASSERT_TRUE(folder.ok());
  const std::string script = (folder->path() / "again.sh").string();
  ASSERT_TRUE(write_file(script, R"(read hello; echo '{"name": "again"}'
read line; echo '{"again": 1, "precision": "precise"}'
read line; echo '{"again": 1, "precision": "usual"}'
)")
                  .ok());
  const auto mind = make_policy("command:sh " + script, 1);
  ASSERT_TRUE(mind.ok()) << mind.error().text();
  Tree tree(Seconds(4));
  grow(tree, 0, 3);
  const auto sharper = (*mind)->decide(tree);
  ASSERT_TRUE(sharper.ok() && *sharper) << sharper.error().text();
  const auto same = (*mind)->decide(tree);
  ASSERT_FALSE(same.ok());
  EXPECT_NE(same.error().message.find("it was measured at least as precisely"), std::string::npos)
      << same.error().message;
}

TEST(External, AnswersAreReadStrictly) {
  const auto folder = TempFolder::create("policy-");
  ASSERT_TRUE(folder.ok());
  const std::string script = (folder->path() / "answer.sh").string();
  const auto answer = [&](const char* text) -> std::string {
    EXPECT_TRUE(
        write_file(script, fmt::format("read hello; echo '{{}}'\nread line; echo '{}'\nread end\n", text)).ok());
    const auto mind = make_policy("command:sh " + script, 1);
    if (!mind.ok()) return mind.error().text();
    Tree tree(Seconds(4));
    grow(tree, 0, 3);
    tree.add(Proposal{.program = "in flight"});
    const auto decision = (*mind)->decide(tree);
    if (!decision.ok()) return decision.error().sentence();
    return *decision ? fmt::format("node {}", (*decision)->node) : "wait";
  };
  EXPECT_EQ(answer(R"({"expand": 1.0})"), "node 1");
  EXPECT_EQ(answer(R"({"wait": true})"), "wait");
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"expand": 1.5})", "there is no such node"},
      {R"({"expand": 4294967297})", "there is no such node"},
      {R"({"expand": -1})", "there is no such node"},
      {R"({"expand": 2})", "its result is not in yet"},
      {R"({"again": 0})", "the original is not measured again"},
      {R"({"expand": 1, "wait": true})", "one of `expand`, `again`, `wait`"},
      {R"({"wait": false})", "`wait` is true or left out"},
      {"debug", "`debug` is no JSON; it reads a JSON object a line and answers each with one within 30 s"}};
  for (const auto& [text, why] : wrong) EXPECT_NE(answer(text).find(why), std::string::npos) << answer(text);
}

}  // namespace
}  // namespace solstice::search
