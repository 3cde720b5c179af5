// A search whose times are known beforehand, for tests of the loop and of its ends.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "search/make_policy.h"
#include "search/search.h"

namespace solstice::search {

// From the problem "0", "1", ...; from a candidate the same with a "+" behind it.
class Counting : public Proposer {
 public:
  explicit Counting(int count) : count_(count) {}
  Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
    if (node > 0) return proposal(tree, tree.node(node).proposal.program + "+");
    for (int i = 0; i < count_; ++i) {
      if (!tree.contains(std::to_string(i))) return proposal(tree, std::to_string(i));
    }
    return std::optional<Proposal>();
  }

 private:
  static std::optional<Proposal> proposal(const Tree& tree, std::string program) {
    if (tree.contains(program) || program.size() > 3) return std::nullopt;
    return Proposal{.program = std::move(program), .reason = "next"};
  }
  int count_;
};

// Time is the distance from 3, less a little for each "+"; "1" fails.
class Distances : public InOrder {
 public:
  std::vector<int> started;

 protected:
  void begin(const Node& node) override {
    started.push_back(node.id);
    texts_[node.id] = node.proposal.program;
  }
  Result<Measurement> finish(int node) override {
    Measurement m;
    const std::string& text = texts_[node];
    if (text == "1") return m;
    m.state = TrialState::kVerified;
    m.time = Seconds(1.0 + std::abs(text[0] - '3') - 0.2 * static_cast<double>(text.size() - 1));
    return m;
  }

 private:
  std::map<int, std::string> texts_;
};

inline Result<Stop> search(
    Tree& tree, Proposer& proposer, Evaluator& evaluator, const Budget& budget, int lookahead = 1,
    const Observer& observer = {}, const std::function<bool()>& interrupted = [] { return false; },
    const std::string& policy = "greedy(starts=5)") {
  const auto mind = make_policy(policy, 1);
  EXPECT_TRUE(mind.ok()) << mind.error().text();
  return run(tree, {**mind, proposer, evaluator}, budget, lookahead, observer, interrupted);
}

}  // namespace solstice::search
