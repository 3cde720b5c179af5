// Numbers of a search's trials, as every command that tells them counts.
#pragma once

#include <string>

#include "record/trial_counts.h"
#include "search/tree.h"

namespace solstice::search {

// A node that was measured twice is one trial.
TrialCounts counts_of(const Tree& tree);

}  // namespace solstice::search
