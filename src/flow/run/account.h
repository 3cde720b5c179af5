// Account of a run: its language model's costs, and its summary in the store.
#pragma once

#include <optional>

#include "base/json.h"
#include "flow/run/state/run.h"
#include "search/stop_rule.h"

namespace solstice::flow {

// Once the run has its id: questions, answers and costs are kept from here on.
Status keep_transcript(Run& run);
// The report's account of the language model, in the end: with that of the run before it went on. A model's costs stay
// known where the expert goes on alone.
void account_for_agent(Run& run);
// The part of it that the summary of a run that fails has; null where no model took part.
Json account_of(const Report& report);

// "io": 1.2e-5, ...: the ladder in seconds.
Json bounds_in_seconds(const Report& report);
// Summary for readers of the run that do not read its events: the headline, and the ladder. Without an original that
// was timed there is no headline to tell. `stop`: end of its search, where it had one.
Json summary_of(const Report& report, Seconds original, std::optional<search::Stop> stop);

}  // namespace solstice::flow
