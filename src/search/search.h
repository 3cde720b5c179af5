// The search loop: a Proposer says what to try, an Evaluator finds out, the budget says when to stop.
#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "search/tree.h"

namespace solstice::search {

class Proposer {
 public:
  virtual ~Proposer() = default;
  // The next candidate, given all that is known; nothing when it has no more ideas for now. A proposer may be asked
  // again after further results have come in.
  virtual Result<std::optional<Proposal>> propose(const Tree& tree) = 0;
};

// Trials overlap: `start` begins what needs no device (checking, compiling), `finish` verifies and measures. Every
// started node is finished or abandoned. An error ends the search; a candidate that fails is a Measurement.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void start(const Node& node) = 0;
  virtual Result<Measurement> finish(const Node& node) = 0;
};

struct Budget {
  Seconds time{60};
  int trials = 40;
  Seconds bound{0};     // little is to be gained beyond this time ...
  double near = 1.03;   // ... so stop once the best is within this factor of it ...
  int least = 1;        // ... and so many trials are done
  int patience = 0;     // stop after so many trials without a gain; 0: never
  Seconds lost{0};      // stop once `least` trials are done and the best takes longer; 0: never
  double hopeless = 0;  // a proposal expected to take this much longer than the best is not tried; 0: all are
};

enum class Stop { kTrials, kTime, kExhausted, kNearBound, kPatience, kLost, kInterrupted };
std::vector<const char*> enum_names(Stop);

struct Observer {
  std::function<void(const Tree&, const Node&)> finished;  // after each trial
  std::function<void(const Proposal&)> skipped;            // not tried: see Budget::hopeless
};

// Runs until a stop holds; the tree keeps everything also when an error is returned. `interrupted` is asked between
// trials: the one in hand is finished first.
Result<Stop> run(Tree& tree, Proposer& proposer, Evaluator& evaluator, const Budget& budget, int lookahead, const Observer& observer,
                 const std::function<bool()>& interrupted);

}  // namespace solstice::search
