// Searches of made-up landscapes, as a store would have kept them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "search/landscape.h"
#include "search/make_policy.h"
#include "search/replay/recorded.h"
#include "search/search.h"

namespace solstice::search::testing {

class Walker : public Proposer {
 public:
  Walker(const Landscape& landscape, uint64_t seed) : landscape_(landscape), seed_(seed) {}
  Result<std::optional<Proposal>> propose(const Tree& tree, int node) override {
    if (tree.node(node).failed()) return std::optional<Proposal>();
    for (const Step& step : landscape_.moves(seed_, tree.node(node).proposal.program)) {
      if (!tree.contains(step.candidate)) return std::optional(Proposal{.program = step.candidate, .tokens = 10});
    }
    return std::optional<Proposal>();
  }

 private:
  const Landscape& landscape_;
  uint64_t seed_;
};

// Noisy as the landscape is; a trial takes 1 s, a repeated measurement 0.2 s.
class Gauge : public InOrder {
 public:
  // `says`: how well it knows a time is part of the measurement.
  Gauge(const Landscape& landscape, uint64_t seed, bool says = false)
      : landscape_(landscape), seed_(seed), says_(says) {}

 protected:
  void begin(const Node& node) override {
    asked_[node.id] = {node.proposal.program, node.proposal.precision, node.measurement.has_value()};
  }
  Result<Measurement> finish(int node) override {
    const Asked& asked = asked_[node];
    Measurement out;
    out.cost = Seconds(asked.again ? 0.2 : 1);
    if (!landscape_.works(seed_, asked.candidate)) return out;
    Random random(seed_, asked.candidate, static_cast<uint64_t>(asked.precision));
    const double noise = landscape_.noise / (1 << static_cast<int>(asked.precision));
    out.state = TrialState::kVerified;
    if (says_) out.noise = noise;
    out.time =
        Seconds(std::exp2(-landscape_.gain(seed_, asked.candidate)) * std::max(0.1, 1 + noise * random.normal()));
    return out;
  }

 private:
  struct Asked {
    std::string candidate;
    Precision precision = Precision::kUsual;
    bool again = false;
  };
  const Landscape& landscape_;
  uint64_t seed_;
  bool says_;
  std::map<int, Asked> asked_;
};

inline constexpr double kLandscapeBound = 1.0 / 16;

// The original takes 1 s; what a landscape promises at most is some 4 octaves faster.
inline Record recorded_landscape(const Landscape& landscape, const std::string& policy, uint64_t seed, int trials,
                                 int lookahead = 1, const StopRule& rule = {}, bool noise_is_said = false) {
  auto mind = make_policy(policy, seed);
  EXPECT_TRUE(mind.ok()) << mind.error().text();
  Walker walker(landscape, seed);
  Gauge gauge(landscape, seed, noise_is_said);
  Tree tree(Seconds(1));
  Budget budget;
  budget.time = Seconds(1e9);
  budget.trials = trials;
  budget.rule = rule;
  budget.bound = Seconds(kLandscapeBound);
  EXPECT_TRUE(run(tree, {**mind, walker, gauge}, budget, lookahead, {}, [] { return false; }).ok());
  RecordedRun out{
      .id = std::string(landscape.name), .problem = std::string(landscape.name), .policy = policy, .seed = seed};
  out.events = tree.events();
  out.bound = Seconds(kLandscapeBound);
  Result<Record> record = Record::read(std::move(out));
  EXPECT_TRUE(record.ok());
  return std::move(record).value();
}

}  // namespace solstice::search::testing
