// What given code may read of the constants that the driver passes to a launch.
//
// They lie in constant bank 0 before the parameters. Code may read extents of the launch, the window of local memory
// and its stack. Refused is all else: addresses of the constant banks, of the parameters, of the driver's part of
// shared memory and of the workspace of grid-wide barriers, through which values would last from launch to launch; and
// reads whose place a register tells. Places are those of sm_90, found by compiling a use of each (NVRTC 13.0.88).
//
// Not proved: that a kernel with descriptors by value, which needs the address of its parameters, only reads there. A
// computed address in shared memory may lie in the driver's part, its first KiB, which the runner clears between
// launches (kernels/judge/scrub.cu).
#pragma once

#include <string>

#include "record/plan.h"
#include "toolchain/cubin.h"

namespace solstice::evaluate {

// What it reads and may not, for its author; "" nothing.
std::string driver_constants_flaw(const toolchain::CubinFacts& facts, const Step& step);

}  // namespace solstice::evaluate
