// Profile builds: a candidate's sources compiled again, with line tables that lead from machine code to equations and
// parts of kernels. They are read and never run: their machine code is that of the candidate, byte for byte, so that
// what is measured of the one holds for the other.
#pragma once

#include <string>

#include "evaluate/build.h"

namespace solstice::evaluate {

// The cubin of module `module` with line tables. Errors: candidate_failed (it does not compile so, or to other code:
// the message says which), those of the compiler.
Result<std::string> profile_cubin(const Built& built, size_t module, toolchain::Compiler& compiler);

}  // namespace solstice::evaluate
