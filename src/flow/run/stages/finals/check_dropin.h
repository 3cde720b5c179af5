// The winner as a drop-in: written, put to KernelBench's check, and timed against the original in one Python process.
#pragma once

#include <filesystem>

#include "flow/run/stages/finals/finalists.h"
#include "flow/run/stages/prepare/device.h"

namespace solstice::flow {

// Fills the report's headline and outcome. Without a winner there is nothing to do. A drop-in that fails its check, or
// is no faster, is an outcome. Errors: those of the oracle; io_error, disk_full.
Status check_dropin(Run& run, const Measurable& measurable, const Chosen& chosen);

// The file that the oracle loads as drop-in: model_new.py, or for a module given as an object the recording, which it
// attaches to the module.
std::filesystem::path dropin_path(const Run& run, const Problem& problem);

}  // namespace solstice::flow
