// The stop rule of a search, over its results so far: one rule, which the search itself and its replays go by.
// docs/replay.md has the formulas.
#pragma once

#include <optional>
#include <string>

#include "search/scheduler.h"

namespace solstice::search {

// kPolicyEnded: moves are left, and the policy asks for none of them. kPolicyFailed: it cannot say; kProposerFailed: so
// of whoever proposes. kShared: it shares its budget with other searches, and gets no more of it.
enum class Stop {
  kTrials,
  kTime,
  kExhausted,
  kNearBound,
  kWindow,
  kLost,
  kInterrupted,
  kOverBudget,
  kProposerFailed,
  kShared,
  kLittleToGain,
  kPolicyEnded,
  kPolicyFailed
};
std::vector<const char*> enum_names(Stop);

// Each part ends the search by itself; one that is left out never does.
struct StopRule {
  std::optional<double> eps =
      {};  // what there is, the best or the original, takes at most 1 + eps of the practical bound
  std::optional<int> window =
      {};  // the best beats the original, and so many trials in a row brought no gain beyond noise
  std::optional<double> roi =
      {};         // the next trial is expected to bring less log-gain (scheduler.h), original beaten or not
  int least = 1;  // trials before any of them ends it
};

// A rule as the trials come in.
class Watch {
 public:
  // Times of 0 are not known; a bound that is not ends nothing. `best`: of trials before these.
  Watch(const StopRule& rule, Seconds original, Seconds bound, const Timed& best = {});

  // A trial came in. `best`: of all so far.
  void add(const Timed& best);
  // A result of trials before these came in late.
  void learn(const Timed& best);
  std::optional<Stop> ends() const;
  int trials() const { return outlook_.trials(); }

 private:
  bool beats_original() const { return best_.value > 0 && (original_.value <= 0 || best_ < original_); }
  bool near() const;

  StopRule rule_;
  Seconds original_, bound_, best_;
  Mark mark_;
  Outlook outlook_;  // on the next one
  int without_gain_ = 0;
};

}  // namespace solstice::search
