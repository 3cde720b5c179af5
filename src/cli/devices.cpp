#include "cli/devices.h"

namespace solstice::cli {

Parameter devices_option() {
  return {"--devices",
          "LIST",
          "GPUs that measure candidates in parallel: numbers separated by commas, or all; they have to be of one "
          "model and include GPU 0 [default: GPU 0, if there is one]",
          "",
          {},
          false,
          false};
}

Result<flow::GpuChoice> chosen_devices(const Invocation& in) {
  if (!in.has("--devices")) return flow::GpuChoice();
  if (in.get("--device") == "model")
    return fail(Code::bad_argument, "--devices chooses GPUs, and --device model uses none");
  return flow::parse_gpu_choice(in.get("--devices"));
}

}  // namespace solstice::cli
