// Rates of a machine that cost models divide by.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "machine/machine.h"

namespace solstice::families {

// The rate of copying, measured where it was, else the datasheet's; error where the machine file has neither.
Result<BytesPerSecond> copy_rate(const machine::Machine& machine);
Result<BytesPerSecond> read_rate(const machine::Machine& machine);  // of reading alone
// Instructions that all SMs issue a second, each a warp's worth of 32 lanes counted one by one.
FlopsPerSecond issue_rate(const machine::Machine& machine);

}  // namespace solstice::families
