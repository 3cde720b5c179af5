// Numbers of a search's trials, as every command that tells them counts.
#pragma once

#include <string>

#include "record/trial_counts.h"
#include "search/tree.h"

namespace solstice::search {

// A node that was measured twice is one trial.
TrialCounts counts_of(const Tree& tree);

// The least time that a measurement of a trial had, also of one that was measured again since; 0: none was usable.
Seconds fastest_measured(const Tree& tree);

}  // namespace solstice::search
