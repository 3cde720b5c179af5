// Attempts of several turns as events: what is open, whose a turn was, and that a search brings one to its end first.
#include "search/attempt.h"

#include <gtest/gtest.h>

#include "search/make_policy.h"
#include "search/search.h"

namespace solstice::search {
namespace {

Proposal turn(const char* role) {
  Proposal out;
  out.role = role;
  out.author = Author::kModel;
  out.artefact = Json::object().set("of", role);
  return out;
}

Proposal program(const std::string& text, int parent, Author author = Author::kModel) {
  Proposal out;
  out.program = text;
  out.parent = parent;
  out.author = author;
  return out;
}

void measured(Tree& tree, int node, double seconds) {
  Measurement m;
  m.state = TrialState::kVerified;
  m.time = Seconds(seconds);
  tree.complete(node, std::move(m));
}

std::string roles(const std::vector<const Proposal*>& turns) {
  std::string out;
  for (const Proposal* each : turns) out += each->role + " ";
  return out;
}

TEST(Attempt, TurnsAreOpenUntilTheirCandidate) {
  Tree tree(Seconds(1));
  EXPECT_TRUE(open_turns(tree).empty());
  EXPECT_FALSE(open_decision(tree));
  measured(tree, tree.add(program("a", 0))->id, 0.5);
  tree.note(1, turn("plan"));
  tree.note(1, turn("look"));
  EXPECT_EQ(roles(open_turns(tree)), "plan look ");
  EXPECT_EQ(open_decision(tree)->node, 1);
  tree.add(program("b", 1));
  EXPECT_TRUE(open_turns(tree).empty());
  EXPECT_EQ(roles(turns_of(tree, 2)), "plan look ");
  EXPECT_EQ(roles(turns_of(tree, 1)), "");
  tree.note(2, turn("plan"));
  tree.spend(2, turn(""));
  EXPECT_TRUE(open_turns(tree).empty());
  tree.note(1, turn("plan"));
  tree.add(program("c", 1, Author::kOther));
  EXPECT_EQ(roles(turns_of(tree, 3)), "") << "somebody else's";
}

TEST(Attempt, EventsOfATurnGoThroughJson) {
  Tree tree(Seconds(1));
  tree.note(0, turn("plan"));
  Tree again;
  for (const Event& event : tree.events()) {
    const auto read = from_json<Event>(*parse_json(to_json(event).dump()));
    ASSERT_TRUE(read.ok()) << read.error().text();
    ASSERT_TRUE(again.apply(*read).ok());
  }
  ASSERT_EQ(open_turns(again).size(), 1u);
  EXPECT_EQ(open_turns(again)[0]->artefact.at("of").as_string(), "plan");
  EXPECT_FALSE(again.apply({.kind = Event::Kind::kNoted, .node = 0}).ok());
  EXPECT_FALSE(again.apply({.kind = Event::Kind::kNoted, .node = 0, .proposal = program("x", 0)}).ok());
  EXPECT_FALSE(again.apply({.kind = Event::Kind::kNoted, .node = 7, .proposal = turn("plan")}).ok());
}

// Turns are no news: a policy with a seed decides as it would have without them.
TEST(Attempt, PoliciesDecideAsWithoutTurns) {
  for (const PolicySpec* spec : all_policies()) {
    Tree plain(Seconds(1)), noted(Seconds(1));
    for (int i = 0; i < 12; ++i) {
      const auto policy = make_policy(spec->name, 5);
      const auto one = (*policy)->decide(plain), other = (*policy)->decide(noted);
      ASSERT_TRUE(one.ok() && other.ok());
      ASSERT_EQ(one->has_value(), other->has_value()) << spec->name;
      if (!*one || (*one)->again) break;
      ASSERT_EQ((*one)->node, (*other)->node) << spec->name;
      const int parent = (*one)->node;
      noted.note(parent, turn("plan"));
      for (Tree* tree : {&plain, &noted})
        measured(*tree, tree->add(program("p" + std::to_string(i), parent))->id, 1.0 / (2 + i % 5));
    }
  }
}

// Each node in turns of its own: three of them, then a candidate.
class InTurns : public Proposer {
 public:
  Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
    const size_t open = open_turns(tree).size();
    if (open < 3) return std::optional(turn(open == 0 ? "plan" : "look"));
    return std::optional(program("from " + std::to_string(node) + " " + std::to_string(tree.trials()), node));
  }
};

class Instant : public InOrder {
 protected:
  void begin(const Node&) override {}
  Result<Measurement> finish(int node) override {
    Measurement out;
    out.state = TrialState::kVerified;
    out.time = Seconds(1.0 / (node + 1));
    return out;
  }
};

TEST(Attempt, ASearchBringsItToItsEndBeforeItAsksForAnotherNode) {
  Tree whole(Seconds(1));
  const auto go_on = [](Tree& tree) {
    InTurns proposer;
    Instant device;
    const auto policy = make_policy("random", 3);
    Budget budget;
    budget.trials = 6;
    EXPECT_TRUE(run(tree, {**policy, proposer, device}, budget, 1, {}, [] { return false; }).ok());
  };
  go_on(whole);
  EXPECT_EQ(whole.trials(), 6);
  for (int node = 1; node <= 6; ++node) EXPECT_EQ(roles(turns_of(whole, node)), "plan look look ") << node;
  for (size_t kept = 1; kept < whole.events().size(); ++kept) {
    Tree tree;
    for (size_t i = 0; i < kept; ++i) ASSERT_TRUE(tree.apply(whole.events()[i]).ok());
    go_on(tree);
    ASSERT_EQ(tree.events().size(), whole.events().size()) << kept;
    for (size_t i = 0; i < tree.events().size(); ++i)
      ASSERT_EQ(to_json(tree.events()[i]).dump(), to_json(whole.events()[i]).dump()) << kept;
  }
}

}  // namespace
}  // namespace solstice::search
