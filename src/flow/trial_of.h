// A measured node of a search as the trial that the store keeps.
#pragma once

#include <string>

#include "record/trial.h"
#include "search/tree.h"

namespace solstice::flow {

// `measured`: on a device; else its time is a prediction.
TrialRecord trial_of(const std::string& run, const search::Node& node, bool measured);

}  // namespace solstice::flow
