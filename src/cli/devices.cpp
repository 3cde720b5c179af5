#include "cli/devices.h"

namespace solstice::cli {

Parameter devices_option() {
  return {"--devices",
          "LIST",
          "GPUs that measure candidates side by side: numbers with commas, or all; one model, GPU 0 among them [default: 0]",
          "",
          {},
          false,
          false};
}

Result<flow::GpuChoice> chosen_devices(const Invocation& in) {
  SOLSTICE_TRY(flow::GpuChoice out, flow::parse_gpu_choice(in.get("--devices")));
  if (out.given() && in.get("--device") == "model") {
    return fail(Code::bad_argument, "--devices chooses GPUs, and --device model uses none");
  }
  return out;
}

}  // namespace solstice::cli
