#include "search/search.h"

#include <gtest/gtest.h>

namespace solstice::search {
namespace {

// Proposes "0", "1", ... and, once it knows the best, that one with a "+" behind it.
class Counting : public Proposer {
 public:
  explicit Counting(int count) : count_(count) {}
  Result<std::optional<Proposal>> propose(const Tree& tree) override {
    if (next_ < count_) return std::optional(Proposal{std::to_string(next_++), "next", Seconds(0), -1});
    const Node* best = tree.best();
    if (!best) return std::optional<Proposal>();
    Proposal refined{best->proposal.program + "+", "refine", Seconds(0), best->id};
    if (tree.contains(refined.program)) return std::optional<Proposal>();
    return std::optional(refined);
  }

 private:
  int count_;
  int next_ = 0;
};

// Time is the distance from 3, less a little for each "+"; "1" fails.
class Landscape : public Evaluator {
 public:
  void start(const Node& node) override { started.push_back(node.id); }
  Result<Measurement> finish(const Node& node) override {
    Measurement m;
    const std::string& text = node.proposal.program;
    if (text == "1") return m;
    m.state = TrialState::kVerified;
    m.time = Seconds(1.0 + std::abs(text[0] - '3') - 0.2 * static_cast<double>(text.size() - 1));
    return m;
  }
  std::vector<int> started;
};

TEST(Search, FindsTheBestAndRefinesIt) {
  Tree tree;
  Counting proposer(5);
  Landscape evaluator;
  Budget budget;
  budget.trials = 7;
  const auto interrupted = [] { return false; };
  const Result<Stop> stop = run(tree, proposer, evaluator, budget, 2, {}, interrupted);
  ASSERT_TRUE(stop.ok());
  EXPECT_EQ(*stop, Stop::kTrials);
  ASSERT_NE(tree.best(), nullptr);
  EXPECT_EQ(tree.best()->proposal.program, "3++");
  EXPECT_EQ(tree.node(1).measurement->state, TrialState::kIllegal);
  EXPECT_EQ(evaluator.started.size(), 7u);
}

// Times begin at 4, 3 and 2.
TEST(Search, StopsWhereTheBestIsFarFromTheOriginal) {
  for (const double lost : {0.0, 2.5, 1.5}) {
    Tree tree;
    Counting proposer(5);
    Landscape evaluator;
    Budget budget;
    budget.trials = 4;
    budget.least = 3;
    budget.lost = Seconds(lost);
    const Result<Stop> stop = run(tree, proposer, evaluator, budget, 1, {}, [] { return false; });
    ASSERT_TRUE(stop.ok());
    EXPECT_EQ(*stop, lost == 1.5 ? Stop::kLost : Stop::kTrials) << lost;
  }
}

TEST(Search, StopsNearTheBound) {
  Tree tree;
  Counting proposer(5);
  Landscape evaluator;
  Budget budget;
  budget.bound = Seconds(0.99);
  const auto interrupted = [] { return false; };
  EXPECT_EQ(*run(tree, proposer, evaluator, budget, 1, {}, interrupted), Stop::kNearBound);
  EXPECT_EQ(tree.nodes().size(), 5u);  // the fifth was in flight when the fourth ended it
}

TEST(Search, StopsWhenInterruptedAndKeepsTheTree) {
  Tree tree;
  Counting proposer(5);
  Landscape evaluator;
  bool stop = false;
  const auto interrupted = [&] { return stop; };
  Observer observer;
  observer.finished = [&](const Tree&, const Node& node) { stop = node.id == 2; };
  EXPECT_EQ(*run(tree, proposer, evaluator, Budget{}, 1, observer, interrupted), Stop::kInterrupted);
  EXPECT_EQ(tree.best()->proposal.program, "2");
}

// Claims the times that it is given; what it knows of earlier runs it says.
class Claiming : public Proposer {
 public:
  explicit Claiming(std::vector<Proposal> all) : all_(std::move(all)) {}
  Result<std::optional<Proposal>> propose(const Tree&) override {
    if (next_ == all_.size()) return std::optional<Proposal>();
    return std::optional(all_[next_++]);
  }

 private:
  std::vector<Proposal> all_;
  size_t next_ = 0;
};

Proposal claim(const char* program, double predicted, std::optional<Seconds> known = {}) {
  Proposal out{program, "claimed", Seconds(predicted), -1};
  out.known = known;
  return out;
}

TEST(Search, DoesNotTryWhatIsExpectedToLose) {
  // Measured: "3" 1.0, "2" and "4" 2.0, "5" 3.0. The luckiest prediction is off by a factor of 2.
  Claiming proposer({claim("3", 0.5), claim("2", 1), claim("4", 0.8), claim("5", 1.4), claim("6", 0.9), claim("7", 0.54),
                     claim("8", 0.1, Seconds(1.5)), claim("9", 9, Seconds(1.05))});
  Tree tree;
  Landscape evaluator;
  Budget budget;
  budget.hopeless = 1.1;
  std::vector<std::string> skipped;
  Observer observer;
  observer.skipped = [&](const Proposal& proposal) { skipped.push_back(proposal.program); };
  ASSERT_TRUE(run(tree, proposer, evaluator, budget, 1, observer, [] { return false; }).ok());
  EXPECT_EQ(skipped, (std::vector<std::string>{"6", "8"}));
  EXPECT_EQ(tree.nodes().size(), 6u);
}

TEST(Search, NeverTriesTheSameProgramTwice) {
  Tree tree;
  EXPECT_NE(tree.add({"a", "", Seconds(0), -1}), nullptr);
  EXPECT_EQ(tree.add({"a", "", Seconds(0), -1}), nullptr);
}

}  // namespace
}  // namespace solstice::search
