// Trials of a run for a terminal.
#pragma once

#include <string>
#include <vector>

#include "record/trial.h"
#include "record/trial_counts.h"

namespace solstice::cli {

// A line a trial: state, times and what it changed.
std::string trials_table(const std::vector<TrialRecord>& trials);

// Those of a candidate that went wrong.
std::vector<TrialRecord> failed_trials(const std::vector<TrialRecord>& trials);

// Of each failed trial what it changed and all that was said about it. `run`: the name by which the user asked.
std::string failed_text(const std::vector<TrialRecord>& failed, const std::string& run);

// The line below a run's trials: their numbers, and where the failures are explained.
std::string closing_line(const TrialCounts& counts, size_t failed, const std::string& run);

}  // namespace solstice::cli
