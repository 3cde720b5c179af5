#include "search/search.h"

#include <gtest/gtest.h>

#include "unit/search/distances.h"

namespace solstice::search {
namespace {

TEST(Search, FindsTheBestAndRefinesIt) {
  Tree tree;
  Counting proposer(5);
  Distances evaluator;
  Budget budget;
  budget.trials = 7;
  const Result<Stop> stop = search(tree, proposer, evaluator, budget, 2);
  ASSERT_TRUE(stop.ok());
  EXPECT_EQ(*stop, Stop::kTrials);
  ASSERT_NE(tree.best(), nullptr);
  EXPECT_EQ(tree.best()->proposal.program, "3+");
  EXPECT_EQ(tree.node(2).measurement->state, TrialState::kIllegal);
  EXPECT_EQ(evaluator.started.size(), 7u);
}

// A remembered time says what a trial in flight may come to; one that failed came to nothing.
TEST(Search, WhatAFailedTrialTookElsewhereRulesNothingOut) {
  class Remembering : public Proposer {
   public:
    Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
      if (node != 0 || tree.trials() == 2) return std::optional<Proposal>();
      if (tree.trials() == 0) return std::optional(Proposal{.program = "9", .known = Seconds(0.1)});
      return std::optional(Proposal{.program = "0", .known = Seconds(5)});
    }
  };
  class Failing : public InOrder {
   protected:
    void begin(const Node&) override {}
    Result<Measurement> finish(int node) override {
      Measurement m;
      m.state = node == 1 ? TrialState::kCrashed : TrialState::kVerified;
      m.time = Seconds(node == 1 ? 0 : 5);
      return m;
    }
  };
  Tree tree;
  Remembering proposer;
  Failing evaluator;
  Budget budget;
  budget.hopeless = 1.1;
  EXPECT_EQ(*search(tree, proposer, evaluator, budget), Stop::kExhausted);
  ASSERT_EQ(tree.trials(), 2);
  EXPECT_TRUE(tree.node(2).usable());
}

TEST(Search, WhatAPolicyFoundBeforeItFailedIsKept) {
  class Failing : public Policy {
   public:
    Result<std::optional<Decision>> decide(const Tree& tree) override {
      if (tree.trials() == 3) return fail(Code::process_failed, "it ended");
      return std::optional<Decision>(Decision{0, false, Precision::kUsual});
    }
  };
  Tree tree;
  Failing policy;
  Counting proposer(9);
  Distances evaluator;
  std::string why;
  Observer observer;
  observer.failed = [&](const Error& error) { why = error.message; };
  const auto stop = run(tree, {policy, proposer, evaluator}, {}, 2, observer, [] { return false; });
  ASSERT_TRUE(stop.ok()) << stop.error().text();
  EXPECT_EQ(*stop, Stop::kPolicyFailed);
  EXPECT_EQ(why, "it ended");
  EXPECT_EQ(tree.trials(), 3);
  EXPECT_EQ(tree.in_flight(), 0);
  Tree other;
  EXPECT_FALSE(run(other, {policy, proposer, evaluator}, {}, 2, {}, [] { return false; }).ok());
}

// From the problem one candidate, from a candidate none, and why.
class GivingUp : public Proposer {
 public:
  Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
    if (node == 0 && tree.trials() == 0)
      return std::optional(Proposal{.program = "0", .origin = "model", .tokens = 9, .answer = "{}"});
    return std::optional(Proposal{.reason = "as fast as it gets", .origin = "model", .tokens = 5, .answer = "{no}"});
  }
};

TEST(Search, WhoGivesANodeUpSaysWhyAndUsesNoTrial) {
  Tree tree(Seconds(9));
  GivingUp proposer;
  Distances evaluator;
  EXPECT_EQ(*search(tree, proposer, evaluator, Budget{}), Stop::kExhausted);
  EXPECT_EQ(tree.trials(), 1);
  Tree again;
  for (const Event& event : tree.events()) ASSERT_TRUE(again.apply(event).ok());
  for (const Tree* t : {&tree, &again}) {
    for (const Node& node : t->nodes()) {
      EXPECT_TRUE(node.spent);
      ASSERT_TRUE(node.given_up) << node.id;
      EXPECT_EQ(node.given_up->reason, "as fast as it gets");
      EXPECT_EQ(node.given_up->parent, node.id);
    }
  }
  again.open(1);
  EXPECT_FALSE(again.node(1).given_up);
  again.spend(1, Proposal{.program = "0"});  // it was there already: no reason
  EXPECT_FALSE(again.node(1).given_up);
}

// Two candidates, then an error.
class Failing : public Proposer {
 public:
  explicit Failing(Code code) : code_(code) {}
  Result<std::optional<Proposal>> propose(const Tree& tree, int) override {
    if (tree.trials() == 2) return fail(code_, "no more");
    return std::optional(Proposal{.program = std::to_string(tree.trials() + 2)});
  }

 private:
  Code code_;
};

TEST(Search, AProposerThatCannotGoOnEndsTheSearchAndLosesNothing) {
  const auto ended = [](Code code, bool heard) {
    Tree tree;
    Failing proposer(code);
    Distances evaluator;
    Observer observer;
    std::string told;
    if (heard) observer.refused = [&](const Error& error) { told = error.message; };
    const Result<Stop> stop = search(tree, proposer, evaluator, {}, 3, observer);
    if (!stop.ok()) return std::string("error: ") + stop.error().message;
    EXPECT_EQ(tree.in_flight(), code == Code::interrupted ? 2 : 0);  // it is at once that the user wants it to end
    return enum_names(*stop)[static_cast<size_t>(*stop)] + (": " + told);
  };
  EXPECT_EQ(ended(Code::over_budget, true), "over_budget: no more");
  EXPECT_EQ(ended(Code::provider_failed, true), "proposer_failed: no more");
  EXPECT_EQ(ended(Code::interrupted, true), "interrupted: no more");
  EXPECT_EQ(ended(Code::internal, true), "error: no more");
  EXPECT_EQ(ended(Code::provider_failed, false), "error: no more");
}

// Takes as long as there is time.
class Slow : public Proposer {
 public:
  Result<std::optional<Proposal>> propose(const Tree& tree, int) override {
    const Deadline made(Seconds(0.02));
    while (!made.passed()) {
    }
    return std::optional(Proposal{.program = std::to_string(tree.trials() + 2)});
  }
};

TEST(Search, WhatTookLongToMakeIsFinished) {
  for (const bool finish : {false, true}) {
    Tree tree;
    Slow proposer;
    Distances evaluator;
    Budget budget;
    budget.time = Seconds(0.01);
    budget.finish = finish;
    const Result<Stop> stop = search(tree, proposer, evaluator, budget);
    ASSERT_TRUE(stop.ok());
    EXPECT_EQ(*stop, Stop::kTime);
    EXPECT_EQ(tree.trials(), 1);
    EXPECT_EQ(tree.best() != nullptr, finish);
  }
}

// Claims the times that it is given; what it knows of earlier runs it says.
class Claiming : public Proposer {
 public:
  explicit Claiming(std::vector<Proposal> all) : all_(std::move(all)) {}
  Result<std::optional<Proposal>> propose(const Tree& tree, int) override {
    for (const Proposal& one : all_) {
      if (!tree.contains(one.program)) return std::optional(one);
    }
    return std::optional<Proposal>();
  }

 private:
  std::vector<Proposal> all_;
};

Proposal claim(const char* program, double predicted, std::optional<Seconds> known = {}) {
  Proposal out{.program = program, .reason = "claimed", .predicted = Seconds(predicted)};
  out.known = known;
  return out;
}

TEST(Search, DoesNotTryWhatIsExpectedToLose) {
  // Measured: "3" 1.0, "2" and "4" 2.0, "5" 3.0. The luckiest prediction is off by a factor of 2.
  Claiming proposer({claim("3", 0.5), claim("2", 1), claim("4", 0.8), claim("5", 1.4), claim("6", 0.9),
                     claim("7", 0.54), claim("8", 0.1, Seconds(1.5)), claim("9", 9, Seconds(1.05))});
  Tree tree;
  Distances evaluator;
  Budget budget;
  budget.hopeless = 1.1;
  std::vector<std::string> skipped;
  Observer observer;
  observer.skipped = [&](const Proposal& proposal) { skipped.push_back(proposal.program); };
  ASSERT_TRUE(search(tree, proposer, evaluator, budget, 1, observer).ok());
  EXPECT_EQ(skipped, (std::vector<std::string>{"6", "8"}));
  EXPECT_EQ(tree.trials(), 6);
}

// What was in flight when a run ended is measured when it goes on, once; the rest is as if nothing had happened.
TEST(Search, GoesOnWhereItWasInterrupted) {
  for (const std::string policy :
       {"greedy", "mcts", "epsilon-greedy", "beam", "random", "successive-halving(first=4, keep=2)"}) {
    Budget budget;
    budget.trials = 12;
    Tree whole;
    Counting proposer(5);
    Distances evaluator;
    ASSERT_TRUE(search(
                    whole, proposer, evaluator, budget, 1, {}, [] { return false; }, policy)
                    .ok());
    for (size_t cut = 0; cut <= whole.events().size(); ++cut) {
      Tree tree;
      for (size_t i = 0; i < cut; ++i) ASSERT_TRUE(tree.apply(whole.events()[i]).ok());
      Counting again(5);
      Distances device;
      ASSERT_TRUE(search(
                      tree, again, device, budget, 1, {}, [] { return false; }, policy)
                      .ok());
      ASSERT_EQ(tree.events().size(), whole.events().size()) << policy << " cut at " << cut;
      for (size_t i = 0; i < tree.events().size(); ++i) {
        ASSERT_EQ(to_json(tree.events()[i]).dump(), to_json(whole.events()[i]).dump())
            << policy << " cut at " << cut << ", event " << i;
      }
    }
  }
}

// Node 2 was proposed, then node 1 was measured again: they were started in that order.
TEST(Search, StartsWhatIsInFlightInTheOrderInWhichItWas) {
  Tree tree;
  tree.add({.program = "3"});
  tree.complete(1, Measurement{.state = TrialState::kVerified, .time = Seconds(1)});
  tree.add({.program = "4"});
  tree.again(1, Precision::kPrecise);
  Counting proposer(0);
  Distances evaluator;
  Budget budget;
  budget.trials = 2;
  ASSERT_TRUE(search(tree, proposer, evaluator, budget).ok());
  EXPECT_EQ(evaluator.started, (std::vector<int>{2, 1}));
}

// The store's place: an event that cannot be kept ends the search before anything follows from it.
TEST(Search, EventsAreToldInOrderBeforeWhatFollows) {
  Tree tree;
  Counting proposer(3);
  Distances evaluator;
  Observer observer;
  size_t told = 0;
  observer.recorded = [&](const Tree& t, size_t number) -> Status {
    const Event& event = t.events()[number];
    EXPECT_EQ(number, told++);
    EXPECT_TRUE(event.kind != Event::Kind::kProposed || evaluator.started.size() < static_cast<size_t>(event.node));
    return told == 4 ? Status(fail(Code::disk_full, "no")) : success();
  };
  const Result<Stop> stop = search(tree, proposer, evaluator, Budget{}, 1, observer);
  ASSERT_FALSE(stop.ok());
  EXPECT_EQ(stop.error().code, Code::disk_full);
  EXPECT_EQ(told, 4u);
}

// Results in any order; some never come, one comes late.
class Careless : public Evaluator {
 public:
  void start(const Node& node) override { open_.push_back(node.id); }
  Result<Landed> land() override {
    const int node = open_.back();
    open_.pop_back();
    if (node % 3 == 0) return Landed{node, std::nullopt};
    Measurement m;
    m.state = TrialState::kVerified;
    m.time = Seconds(1.0 / node);
    return Landed{node, m};
  }

 private:
  std::vector<int> open_;
};

TEST(Search, ResultsMayComeInAnyOrderOrNotAtAll) {
  Tree tree;
  Counting proposer(9);
  Careless evaluator;
  Budget budget;
  budget.trials = 12;
  ASSERT_TRUE(search(tree, proposer, evaluator, budget, 4).ok());
  EXPECT_EQ(tree.trials(), 12);
  EXPECT_EQ(tree.in_flight(), 0);
  for (const Node& node : tree.nodes()) EXPECT_EQ(node.lost, node.id > 0 && node.id % 3 == 0) << node.id;
  Measurement late;
  late.state = TrialState::kVerified;
  late.time = Seconds(0.001);
  tree.complete(3, late);
  EXPECT_EQ(tree.best()->id, 3);
  EXPECT_FALSE(tree.node(3).lost);
  Tree again;
  for (const Event& event : tree.events()) ASSERT_TRUE(again.apply(event).ok());
  EXPECT_EQ(again.best()->id, 3);
}

}  // namespace
}  // namespace solstice::search
