// Outputs as expressions of the interface alone: definitions substituted into their reads.
#pragma once

#include <optional>

#include "ir/program.h"

namespace solstice::ir {

// A program whose only equations define outputs and new buffer values, each reading nothing but interface
// tensors, opaque results and recurrences. Nothing where the expressions would grow too large.
std::optional<Program> inlined(const Program& program);

}  // namespace solstice::ir
