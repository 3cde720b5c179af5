// --device, --machine and --devices of the commands that search or measure.
#pragma once

#include "cli/command.h"
#include "flow/run/gpu/gpu_choice.h"

namespace solstice::cli {

Parameter device_option(std::string help = "where candidates run; model: predict times without a GPU");
Parameter machine_option();
Parameter devices_option();

// Error bad_argument: no list, or given where --device leaves no GPU to choose.
Result<flow::GpuChoice> chosen_devices(const Invocation& in);

}  // namespace solstice::cli
