// Recorded searches decided again, over a grid: stop rules, other policies, other ways to share a budget. What
// `solstice replay` prints.
#pragma once

#include <string>
#include <vector>

#include "search/replay/allocation.h"
#include "search/replay/recorded.h"
#include "search/replay/stopping.h"

namespace solstice::search {

struct ComparisonOptions {
  std::vector<std::string> policies = {};   // as for make_policy(), besides the recorded one
  std::vector<ReplayRule> rules = {};       // each with each policy
  std::vector<std::string> schedules = {};  // as for parse_scheduling()
  std::vector<TotalBudget> budgets = {};    // of one search each: so many times that is what schedules have in all
  Currency currency = Currency::kSeconds;
  std::optional<uint64_t> seed = {};  // of replayed policies; else each run's own
};

// The best so far after 0, 1, 2, ... trials: the geometric mean over runs of its speedup in the end.
struct Curve {
  std::string policy;
  std::vector<double> speedup;

  static auto fields() {
    return std::make_tuple(field("policy", &Curve::policy, "as recorded, or replayed"),
                           field("speedup", &Curve::speedup, "geometric mean after 0, 1, 2, ... trials"));
  }
};

// A run that was looked at.
struct Looked {
  std::string id, problem, policy;
  Seconds original = {}, bound = {};  // 0: not known
  double speedup = 1;                 // in the end
  Spent spent;
  int hindsight = 0;  // trials to the hindsight-optimal stop

  static auto fields() {
    return std::make_tuple(field("id", &Looked::id, "run"), field("problem", &Looked::problem, "name"),
                           field("policy", &Looked::policy, "that was recorded"),
                           field("original", &Looked::original, "seconds; 0: not known"),
                           field("bound", &Looked::bound, "practical, seconds; 0: not known"),
                           field("speedup", &Looked::speedup, "in the end"), field("spent", &Looked::spent, "in all"),
                           field("hindsight", &Looked::hindsight, "trials to the hindsight-optimal stop"));
  }
};

struct Comparison {
  static constexpr const char* kSchema = "solstice.replay/1";
  Currency currency = Currency::kSeconds;
  std::vector<Looked> runs;
  std::vector<Judged> stops;      // first the fixed budget and the hindsight-optimal stop of it, then the grid
  std::vector<Curve> curves;      // as recorded first
  std::vector<Judged> schedules;  // by budget; `policy` is who shares it out
  std::vector<std::string> notes;

  static auto fields() {
    return std::make_tuple(field("currency", &Comparison::currency, "of cost: trials, seconds or tokens"),
                           field("runs", &Comparison::runs, "looked at"),
                           field("stops", &Comparison::stops, "stop rules and policies"),
                           field("curves", &Comparison::curves, "best so far"),
                           field("schedules", &Comparison::schedules, "a budget shared by all problems"),
                           field("notes", &Comparison::notes, "what to know of the figures"));
  }
};

inline constexpr const char* kRecorded = "as recorded";
inline constexpr const char* kFixed = "fixed budget";
inline constexpr const char* kHindsight = "hindsight-optimal";

// Errors: bad_argument of policies and schedules, and where the runs cost nothing in this currency, or there are none.
Result<Comparison> compare(const std::vector<Record>& records, const ComparisonOptions& options);

}  // namespace solstice::search
