// A measured node of a search as the trial that the store keeps.
#pragma once

#include <optional>
#include <string>

#include "record/trial.h"
#include "search/tree.h"

namespace solstice::flow {

// By the cost models: whoever proposed it had them say it, or the model device did. None for a model's program on a
// device.
std::optional<Seconds> prediction_of(const search::Node& node);

// `measured`: on a device; else its time is a prediction.
TrialRecord trial_of(const std::string& run, const search::Node& node, bool measured);

}  // namespace solstice::flow
