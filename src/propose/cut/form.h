// The form of a kernel: all that families can tell of it but for the names of tensors. Kernels of one form have the
// same answers, so that of the layers of a network that are alike one is asked about.
#pragma once

#include <string>

#include "ir/program.h"

namespace solstice::propose {

// As a key, not as text: of the kernel that `shown` (spotlight.h) has, with what it shows of others.
std::string form_of(const ir::Program& shown);

}  // namespace solstice::propose
