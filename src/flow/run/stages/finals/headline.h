// The headline, ModelNew.forward (the candidate) against Model.forward (the baseline), as a Timing like the judge's:
// one statistic for both. And how it is held against the judge's measurement.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/oracle_messages.h"
#include "record/timing.h"

namespace solstice::flow {

// The oracle's blocks as rounds, four to a round, with the clocks read after each. Error process_failed: they are not
// in ABBA order, a time is not positive, or a block has no reading. candidate_failed: the drop-in went back to the
// original, so that some of these times are the original's.
Result<std::vector<TimingRound>> headline_rounds(const OracleComparison& found,
                                                 const std::vector<ClockReading>& clocks);

// Why the comparison does not count: most of its rounds had thermal or hardware slowdown. "": it does.
std::string objection(const Timing& headline);

// Whether a clock that was higher on one side does not decide between win and no win, and slowdown touched few rounds.
bool settled(const Timing& headline);

// One try after the other, at most three, until it is settled: slowdown and a change of clocks pass. All rounds of all
// tries count, so that a lucky try does not outweigh the others.
using HeadlineTry = std::function<Result<std::vector<TimingRound>>()>;
Result<Timing> time_in_tries(const HeadlineTry& once);

// Where judge and headline differ by more than 5 %: both medians of both, and the side that makes the difference. ""
// where they agree.
std::string disagreement(const Timing& judge, const Timing& headline);

}  // namespace solstice::flow
