// What given code may read of the constants that the driver passes to a launch.
//
// They lie in constant bank 0 before the parameters. Code may read extents of the launch, the window of local memory
// and its stack. Refused is all else: addresses of the constant banks, of the parameters, of the driver's part of
// shared memory and of the workspace of grid-wide barriers, through which values would last from launch to launch; and
// reads whose place a register tells. Places are those of sm_90, found by compiling a use of each (NVRTC 13.0.88).
//
// A kernel with descriptors by value needs the address of its parameters; what it does with it is followed by data
// flow (parameter_window.h). Not proved: a computed address in shared memory may lie in the driver's part, its first
// KiB, which the runner clears between launches (kernels/judge/scrub.cu); an integer may be the address of anything.
#pragma once

#include <string>

#include "record/plan.h"
#include "toolchain/cubin.h"

namespace solstice::evaluate {

// What it reads and may not, for its author; "" nothing.
// Without the use that is made of the address of the parameters, where `step` passes descriptors.
std::string driver_constants_flaw(const toolchain::CubinFacts& facts, const Step& step);

// Whether it takes that address.
bool takes_parameter_window(const toolchain::CubinFacts& facts);

}  // namespace solstice::evaluate
