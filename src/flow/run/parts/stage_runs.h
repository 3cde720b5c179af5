// Runs of stages that a run of parts left in the store before it was stopped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "search/stop_rule.h"
#include "store/store.h"

namespace solstice::flow {

struct StageRun {
  std::string id;
  std::optional<search::Stop> over;  // its search came to its end, and why
};

// Of a run of parts, by name and key of the stage's problem: the newest of each. Errors: those of the store.
using StageRuns = std::map<std::pair<std::string, std::string>, StageRun>;
Result<StageRuns> stage_runs(store::Store& store, const std::string& run);

}  // namespace solstice::flow
