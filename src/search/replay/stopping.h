// Stop rules applied to recorded searches: where they would have stopped, what that would have kept and cost.
// docs/replay.md has the formulas.
//
// A rule is looked at after each trial, as the search does it; trials in flight at a stop are left out of the cost.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/fields.h"
#include "search/replay/recorded.h"
#include "search/stop_rule.h"
#include "search/turns.h"

namespace solstice::search {

// Whichever comes first ends it.
struct ReplayRule {
  StopRule stop = {};
  TotalBudget budget = {};  // of this one search; seconds are the trials' own time
};
std::string text_of(const TotalBudget& budget);  // "20 trials"; "none"
std::string text_of(const ReplayRule& rule);     // "eps 0.25, window 8, 60 s"; "none"

// The index of the point at which it ends: the last one where nothing ends it before.
size_t stop_of(const Sequence& sequence, const ReplayRule& rule);

// The first point whose candidate is, within noise, worth as much as the last one's: nobody can stop earlier and lose
// nothing. Before the first trial where the original is known and nothing beats it.
size_t hindsight_stop(const Sequence& sequence);

// One search, and where it stopped.
struct Stopped {
  const Sequence* sequence = nullptr;
  size_t at = 0;
  const Sequence* fixed = nullptr;  // the comparison: the recorded search, to its end

  const Point& point() const { return sequence->points[at]; }
};

// One way to stop, over all runs. Shares are of 1.
struct Judged {
  std::string policy;  // "as recorded" or one that was replayed
  std::string rule;
  double speedup = 1;    // geometric mean
  double retention = 1;  // of the fixed budget's geometric mean
  Spent spent;
  std::optional<double> saved_trials = {}, saved_seconds = {},
                        saved_tokens = {};  // of the fixed budget's; absent where that was 0
  double gain = 1;                          // retention * fixed cost / cost
  std::optional<double> over =
      {};  // cost over that of the hindsight-optimal stops of these searches, - 1; below 0: stopped earlier
  std::optional<double> regret =
      {};  // what was spent behind those stops, over their cost; both absent where they cost nothing
  std::optional<double> coverage = {};  // of a replayed policy: share of its decisions that the record could answer
  bool front = false;                   // no other retains as much for as little

  static auto fields() {
    return std::make_tuple(field("policy", &Judged::policy, "as recorded, or replayed"),
                           field("rule", &Judged::rule, "that stopped it"),
                           field("speedup", &Judged::speedup, "geometric mean"),
                           field("retention", &Judged::retention, "of the fixed budget's speedup"),
                           field("spent", &Judged::spent, "over all runs"),
                           field("saved_trials", &Judged::saved_trials, "share of the fixed budget's"),
                           field("saved_seconds", &Judged::saved_seconds, "share of the fixed budget's"),
                           field("saved_tokens", &Judged::saved_tokens, "share of the fixed budget's"),
                           field("gain", &Judged::gain, "retention * fixed cost / cost"),
                           field("over", &Judged::over, "cost over the hindsight-optimal, - 1"),
                           field("regret", &Judged::regret, "cost behind the hindsight-optimal stops, over theirs"),
                           field("coverage", &Judged::coverage, "share of decisions that the record could answer"),
                           field("front", &Judged::front, "on the Pareto front"));
  }
};

// Errors: bad_argument where the fixed budget cost nothing in this currency.
Result<Judged> judge(const std::vector<Stopped>& runs, Currency currency);

// Marks those that no other beats in retention or cost without losing in the other.
void mark_front(std::vector<Judged>& rows, Currency currency);

double geometric_mean(const std::vector<double>& values);  // 1 of none

}  // namespace solstice::search
