// Ends of a search: its budget, the bound, patience, and what counts for none of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "unit/search/distances.h"

namespace solstice::search {
namespace {

TEST(Search, StopsWhenInterruptedAndKeepsTheTree) {
  Tree tree;
  Counting proposer(5);
  Distances evaluator;
  bool stop = false;
  Observer observer;
  observer.finished = [&](const Tree&, const Node& node) { stop = node.id == 3; };
  EXPECT_EQ(*search(tree, proposer, evaluator, Budget{}, 1, observer, [&] { return stop; }), Stop::kInterrupted);
  EXPECT_EQ(tree.best()->proposal.program, "2");
}

TEST(Search, EndsWhereNothingIsLeft) {
  Tree tree;
  Counting proposer(2);
  Distances evaluator;
  EXPECT_EQ(*search(tree, proposer, evaluator, Budget{}), Stop::kExhausted);
  EXPECT_EQ(tree.trials(), 6);  // "0", "1" and two "+" behind each
}

// Times begin at 4, 3 and 2.
TEST(Search, StopsWhereTheBestIsFarFromTheOriginal) {
  for (const double lost : {0.0, 2.5, 1.5}) {
    Tree tree;
    Counting proposer(5);
    Distances evaluator;
    Budget budget;
    budget.trials = 4;
    budget.rule.least = 3;
    budget.lost = Seconds(lost);
    const Result<Stop> stop = search(tree, proposer, evaluator, budget);
    ASSERT_TRUE(stop.ok());
    EXPECT_EQ(*stop, lost == 1.5 ? Stop::kLost : Stop::kTrials) << lost;
  }
}

TEST(Search, StopsNearTheBound) {
  Tree tree;
  Counting proposer(5);
  Distances evaluator;
  Budget budget;
  budget.bound = Seconds(0.99);
  budget.rule.eps = 0.03;
  EXPECT_EQ(*search(tree, proposer, evaluator, budget), Stop::kNearBound);
  EXPECT_EQ(tree.trials(), 4);
}

// A search that goes on from a tree has as much patience left as the one that was interrupted.
TEST(Search, PatienceCountsOverAResume) {
  const auto trials = [](int interrupted_after) {
    Tree tree;
    Counting proposer(9);
    Distances evaluator;
    Budget budget;
    budget.rule.window = 3;
    bool stop = false;
    Observer observer;
    observer.finished = [&](const Tree&, const Node& node) { stop = node.id == interrupted_after; };
    const std::string policy = "beam(width=9)";
    const Result<Stop> first = search(
        tree, proposer, evaluator, budget, 1, observer, [&] { return stop; }, policy);
    EXPECT_EQ(*first, interrupted_after ? Stop::kInterrupted : Stop::kWindow);
    const auto go_on = [] { return false; };
    if (interrupted_after) {
      EXPECT_EQ(*search(tree, proposer, evaluator, budget, 1, {}, go_on, policy), Stop::kWindow);
    }
    return tree.trials();
  };
  const int whole = trials(0);
  for (int at = 1; at < whole; ++at) EXPECT_EQ(trials(at), whole) << at;
}

TEST(Search, WhatAnotherProposerDidCountsForNoStop) {
  for (const bool said : {false, true}) {
    Tree tree;
    Counting proposer(9);
    Distances evaluator;
    Budget budget;
    budget.rule.window = 3;
    ASSERT_EQ(*search(tree, proposer, evaluator, budget), Stop::kWindow);
    const int before = tree.trials();
    budget.since = said ? tree.events().size() : 0;
    EXPECT_EQ(*search(tree, proposer, evaluator, budget), Stop::kWindow);
    EXPECT_EQ(tree.trials(), said ? before + 3 : before);  // who has no patience left proposes nothing
  }
}

// Who measures begins anew where predictions ran out of patience, and believes none of their times.
TEST(Search, WhatWasPredictedCountsForNoStopOfWhoMeasures) {
  Tree tree;
  for (int i = 0; i < 5; ++i) {
    const int id = tree.add(Proposal{.program = fmt::format("predicted {}", i)})->id;
    Measurement m;
    m.state = TrialState::kPredicted;
    m.time = Seconds(0.1);
    tree.complete(id, std::move(m));
  }
  Counting proposer(9);
  Distances evaluator;
  Budget budget;
  budget.bound = Seconds(0.1);
  budget.rule = {.eps = 0.03, .window = 3};
  EXPECT_EQ(*search(tree, proposer, evaluator, budget), Stop::kNearBound);
  EXPECT_EQ(tree.trials(), 5);
  budget.measured = true;
  EXPECT_EQ(*search(tree, proposer, evaluator, budget), Stop::kWindow);
  EXPECT_GE(tree.trials(), 8);
}

Measurement taking(double seconds, TrialState state = TrialState::kVerified) {
  Measurement out;
  out.state = state;
  out.time = Seconds(seconds);
  return out;
}

TEST(Search, WhatAnEarlierProposerHadInFlightIsNoTrialOfTheNext) {
  Tree tree(Seconds(8));
  for (int i = 0; i < 5; ++i) tree.add(Proposal{.program = fmt::format("{}", i)});
  tree.complete(1, taking(1));
  Budget budget;
  budget.rule.window = 3;
  budget.since = tree.events().size();
  for (int id = 2; id <= 5; ++id) tree.complete(id, taking(2));
  EXPECT_EQ(has_enough(tree, budget).value(), std::nullopt);
  for (int id = 6; id <= 8; ++id) {
    tree.add(Proposal{.program = fmt::format("{}", id)});
    tree.complete(id, taking(2));
  }
  EXPECT_EQ(has_enough(tree, budget).value(), Stop::kWindow);
}

// Cost models are believed as far as measurements bear them out, which a prediction does not.
TEST(Search, APredictionBearsNoCostModelOut) {
  Tree tree(Seconds(8));
  for (int id = 1; id <= 6; ++id) {
    tree.add(Proposal{.program = fmt::format("{}", id), .predicted = Seconds(1)});
    tree.complete(id, taking(1, id == 6 ? TrialState::kVerified : TrialState::kPredicted));
  }
  const Proposal slow{.program = "slow", .predicted = Seconds(2)};
  Budget budget;
  budget.hopeless = 1.1;
  budget.measured = true;
  EXPECT_FALSE(is_hopeless(tree, slow, budget));
  for (int id = 1; id <= 3; ++id) tree.complete(id, taking(1));
  EXPECT_TRUE(is_hopeless(tree, slow, budget));
}

// At a bound of 0.5 the best, 0.6, has little left, and fewer and fewer trials gain.
TEST(Search, StopsWhereLittleIsToBeGained) {
  const auto trials = [](double roi) {
    Tree tree(Seconds(8));
    Counting proposer(9);
    Distances evaluator;
    Budget budget;
    budget.bound = Seconds(0.5);
    if (roi > 0) budget.rule.roi = roi;
    budget.trials = 30;
    EXPECT_EQ(*search(tree, proposer, evaluator, budget), roi > 0 ? Stop::kLittleToGain : Stop::kExhausted);
    return tree.trials();
  };
  EXPECT_LT(trials(0.05), trials(0.01));
  EXPECT_LT(trials(0.01), trials(0));
}

// STARK's policy closes the problem after five children: moves are left that nobody asks for.
TEST(Search, APolicyMayEndIt) {
  class Hopeless : public InOrder {
    void begin(const Node&) override {}
    Result<Measurement> finish(int) override { return Measurement{.state = TrialState::kWrong}; }
  };
  class Endless : public Proposer {
    Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
      return node > 0 ? std::optional<Proposal>() : std::optional(Proposal{.program = std::to_string(tree.trials())});
    }
  };
  Tree tree;
  Endless proposer;
  Hopeless evaluator;
  const auto go_on = [] { return false; };
  EXPECT_EQ(*search(tree, proposer, evaluator, {}, 1, {}, go_on, "epsilon-greedy"), Stop::kPolicyEnded);
  EXPECT_EQ(tree.trials(), 5);
  EXPECT_EQ(*search(tree, proposer, evaluator, {}, 1, {}, go_on, "mcts"), Stop::kTrials);
}

// "| `trials` | .. |" of docs/search.md, "Stopping".
TEST(Search, WordsOfStopsAreExplained) {
  const std::string page = std::move(read_file(SOLSTICE_SOURCE_DIR "/docs/search.md")).value();
  const size_t begin = page.find("\n| word | "), end = page.find("\n\n", begin);
  ASSERT_NE(begin, page.npos);
  std::vector<std::string> explained;
  for (size_t row = page.find("\n| `", begin); row < end; row = page.find("\n| `", row + 1))
    explained.push_back(page.substr(row + 4, page.find('`', row + 4) - row - 4));
  const std::vector<const char*> words = enum_names(Stop::kTrials);
  EXPECT_EQ(explained, std::vector<std::string>(words.begin(), words.end()));
}

}  // namespace
}  // namespace solstice::search
