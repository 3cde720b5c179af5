#include "cli/devices.h"

namespace solstice::cli {

Parameter device_option(std::string help) {
  return {"--device", "NAME", std::move(help), "auto", {"auto", "gpu", "model"}, false, false};
}

Parameter machine_option() {
  return {"--machine", "NAME", "machine description [default: that of the device]", "", {}, false, false};
}

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
