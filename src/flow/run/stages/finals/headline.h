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

// How far the timed results may lie from the original's, as a multiple of the limit of KernelBench's check: by how much
// the drop-in missed it or kept it in the check's own trials, with a margin, since more results are compared.
double timed_limit(const OracleDropinCheck& check);

// The oracle's blocks as rounds, four to a round, with the clocks read after each. Error process_failed: they are not
// in ABBA order, a time is not positive, a block has no reading, or a timed result was not compared. candidate_failed:
// the drop-in went back to the original, so that some of these times are the original's, or a result of a timed call
// is further than `limit` (timed_limit) from the original's.
Result<std::vector<TimingRound>> headline_rounds(const OracleComparison& found, const std::vector<ClockReading>& clocks,
                                                 double limit);

// The reason that the comparison does not count: thermal or hardware slowdown in most rounds. "": it counts.
std::string objection(const Timing& headline);

// True where a higher clock on one side does not decide between win and no win, and slowdown touched few rounds.
bool settled(const Timing& headline);

// True where the drop-in seems faster and noise leaves it open: a busy host, and kernels of a few microseconds.
bool noisy(const Timing& headline);

// One try after the other: at most three until it is settled, for slowdown and a change of clocks pass, and at most six
// while it is noisy, where the judge's measurement of the kernels was a win (`kernels_won`). All rounds of all tries
// count, so that a lucky try does not outweigh the others.
using HeadlineTry = std::function<Result<std::vector<TimingRound>>()>;
Result<Timing> time_in_tries(bool kernels_won, const HeadlineTry& once);

// The reason that the headline cannot be: the drop-in, which launches the candidate's kernels, took a tenth less time
// (and a microsecond) than they took by themselves in the judge's measurement. So a drop-in's speedup is at most the
// judge's times what dispatch adds to the original. "": it can be.
std::string impossible(const Timing& judge, const Timing& headline);

// Both medians of judge and headline where they differ by more than 5 %, and the side that makes the difference. ""
// where they agree.
std::string disagreement(const Timing& judge, const Timing& headline);

}  // namespace solstice::flow
