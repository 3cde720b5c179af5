// --devices of the commands that search or measure.
#pragma once

#include "cli/command.h"
#include "flow/run/gpu/gpu_choice.h"

namespace solstice::cli {

Parameter devices_option();

// Error bad_argument: no list, or given where --device leaves no GPU to choose.
Result<flow::GpuChoice> chosen_devices(const Invocation& in);

}  // namespace solstice::cli
