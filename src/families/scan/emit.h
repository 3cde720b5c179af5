// CUDA text of a scan kernel.
#pragma once

#include "base/result.h"
#include "families/map/emit.h"
#include "families/scan/shape.h"

namespace solstice::families::scan {

struct Text {
  map::Text kernel;
  int64_t shared_bytes = 0;
};

Result<Text> emit_kernel(const ir::Program& program, const ir::Kernel& kernel, Shape& shape);

}  // namespace solstice::families::scan
