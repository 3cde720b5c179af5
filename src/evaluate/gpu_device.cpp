#include "evaluate/gpu_device.h"

namespace solstice::evaluate {

void GpuDevice::conclude(int node, Seconds waited, search::Measurement& out) {
  begun_.at(node).conclude(waited, out);
  begun_.erase(node);
}

}  // namespace solstice::evaluate
