#include "cli/devices.h"

namespace solstice::cli {

Parameter devices_option() {
  return {"--devices",
          "LIST",
          "GPUs that measure candidates side by side: numbers with commas, or all; of one model, GPU 0 among them; "
          "left out: GPU 0 alone, "
          "where there is a GPU",
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
