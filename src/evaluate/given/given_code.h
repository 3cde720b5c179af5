// Device code that a program brings (`by cuda`), once it is compiled: what the clause says of it, held to the cubin.
#pragma once

#include <string>

#include "base/result.h"
#include "families/family.h"
#include "machine/machine.h"
#include "record/plan.h"
#include "toolchain/compiler.h"

namespace solstice::evaluate {

// The fault in it, for its author; "" none. The entry exists, its parameters have the sizes of the plan's
// arguments (not their types: the cubin does not have them), a block of its size finds registers and shared memory on
// the machine, and nothing outlives a launch: no variables in global memory, no calls of what the driver provides
// (allocation, printing), no addresses of memory that the driver keeps (driver_constants.h). All but registers and
// local memory is read from the cubin itself, here, whoever compiled it and whenever.
std::string flaw_of(const families::Source& source, const toolchain::Compiled& compiled, const Step& step,
                    const machine::Machine& machine);

// The compiler's first errors, with their lines in the source, in place of pages of them.
std::string compile_errors(const families::Source& source, const toolchain::Compiled& compiled);

}  // namespace solstice::evaluate
