// What the findings of diagnosis tools were worth in the searches of a store: how often each found something, how often
// the next program had its move, and what that came to.
#pragma once

#include <string>
#include <vector>

#include "propose/facts/outcomes.h"
#include "record/fields.h"
#include "store/store.h"

namespace solstice::flow {

// Of one tool, on kernels of one class, on one machine.
struct ToolStats {
  std::string tool;
  std::string limited = {};  // class of the kernels; "": the records do not say
  std::string machine;
  int found = 0;           // findings in measured trials
  int acted_on = 0;        // trials with the move of one
  int hits = 0;            // of these: a gain beyond noise
  int failed = 0;          // of these: no usable result
  int beyond = 0;          // of the hits: the gain is larger than the bound by more than noise
  double median_gain = 0;  // speedup of the whole program, of those acted on that worked; 0: none
  double over_bound = 0;   // the median of that over the bound; 0: none
  static auto fields() {
    return std::make_tuple(field("tool", &ToolStats::tool, "that found it"),
                           optional_field("class", &ToolStats::limited, "of the kernels, by stage 1"),
                           field("machine", &ToolStats::machine, "description"),
                           field("found", &ToolStats::found, "findings in measured trials"),
                           field("acted_on", &ToolStats::acted_on, "trials with the move of one"),
                           field("hits", &ToolStats::hits, "of these, gains beyond noise"),
                           field("failed", &ToolStats::failed, "of these, without a usable result"),
                           field("beyond", &ToolStats::beyond, "of the hits, larger than the bound"),
                           field("median_gain", &ToolStats::median_gain, "speedup of the whole; 0: none worked"),
                           field("over_bound", &ToolStats::over_bound, "the median of gain over bound"));
  }
};

// By tool, class and machine, in the order of their names.
std::vector<ToolStats> stats_of(const std::vector<propose::FindingOutcome>& outcomes);

// Tools whose move was tried and never a gain, by name.
std::vector<std::string> never_hit(const std::vector<ToolStats>& stats);

struct StoredOutcomes {
  std::vector<propose::FindingOutcome> outcomes;
  int runs = 0;                         // with a measured trial that has findings
  std::vector<std::string> unreadable;  // "run: why"
};

// Of every run in the store that is over. Errors: those of the store as a whole.
Result<StoredOutcomes> outcomes_in(store::Store& store);

}  // namespace solstice::flow
