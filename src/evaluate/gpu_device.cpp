#include "evaluate/gpu_device.h"

namespace solstice::evaluate {

Result<search::Measurement> GpuDevice::finish(int node) {
  const auto found = begun_.find(node);
  if (found == begun_.end()) return fail(Code::internal, "a trial was finished that was never started");
  SOLSTICE_TRY(search::Measurement out, meter_.measure(found->second));
  begun_.erase(found);
  return out;
}

}  // namespace solstice::evaluate
