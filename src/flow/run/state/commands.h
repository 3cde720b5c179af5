// Commands that go on with a run, for messages.
#pragma once

#include <filesystem>
#include <string>

#include "flow/run/state/options.h"
#include "record/run.h"

namespace solstice::flow {

// "solstice optimize --resume ID --store DIR", `solstice propose ID` where it is measured elsewhere, or the call of the
// caller that passes the module in Python.
std::string command_to_resume(const OptimizeOptions& options, const RunRecord& run);
// In all of these `store` is "" for the user's.
std::string command_to_propose(const std::string& run, const std::filesystem::path& store);
std::string command_to_optimize(const std::string& run, const std::filesystem::path& store);
// The call of solstice.optimize() in Python.
std::string python_call(const std::string& run, const std::filesystem::path& store);

// State of a run that is measured elsewhere, with the command that takes it further.
std::string waiting_for(const std::string& run, int in_flight, const std::filesystem::path& store);

}  // namespace solstice::flow
