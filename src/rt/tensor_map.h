// TMA descriptors: the plan's TensorMap to the driver's 128 bytes.
#pragma once

#include "record/plan.h"
#include "rt/cuda_driver.h"

namespace solstice::rt {

// `base` is where the map's buffer starts. Encoding is host work of well under a microsecond; it touches no device.
Status encode_tensor_map(const Driver& driver, const TensorMap& map, cu::DevicePtr base, cu::TensorMap& out);

}  // namespace solstice::rt
