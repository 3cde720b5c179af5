// The winner as a drop-in: written, put to KernelBench's check, and timed against the original in one Python process.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flow/run/stages/finals/finalists.h"
#include "flow/run/stages/prepare/device.h"

namespace solstice::flow {

// Fills the report's headline and outcome. Without a winner there is nothing to do. A drop-in that fails its check, or
// is no faster, is an outcome. Errors: those of the oracle; io_error, disk_full.
Status check_dropin(Run& run, const Measurable& measurable, const Chosen& chosen);

// The outcome is `not faster` for this reason, which it returns; what was written of a drop-in goes.
std::string decline(Run& run, std::string why);
// An error of the drop-in alone, or of the room that it needs next to the original, is its refusal and no end of the
// run.
Result<std::string> declined_or_error(Run& run, const Error& error);
// Why KernelBench's check was not passed.
std::string why_failed(const OracleDropinCheck& check);
enum class Verified { kWhole, kInParts };  // against float64: the drop-in, or each of its stages alone

// Why the drop-in may not be timed, after this check; nothing where it may. Warns of what it says of the problem. What
// was verified as a whole may fail the check for the original's own error.
std::optional<std::string> refusal_of(Run& run, const OracleDropinCheck& check, Verified verified);
// Rounds of the headline for the drop-in at `path`, with the clocks that `clocks` reads after each block. The oracle
// has the set `trial`; `limit` as in headline_rounds.
using ReadClocks = std::function<ClockReading()>;
Result<std::vector<TimingRound>> compare_once(Run& run, const std::string& path, double limit,
                                              const ReadClocks& clocks);

// The file that the oracle loads as drop-in: model_new.py, or for a module given as an object the recording, which it
// attaches to the module.
std::filesystem::path dropin_path(const Run& run, const Problem& problem);

}  // namespace solstice::flow
