// From the number of a vector to the indices of a loop nest, in generated text.
#pragma once

#include <vector>

#include "codegen/access.h"
#include "codegen/emitter.h"

namespace solstice::families {

// Takes `number` apart into the loops' counters, outer to inner, and binds the loops' indices to them, in the scope
// `depth`; the innermost counts vectors.
void bind_loops(codegen::Emitter& emitter, const std::vector<codegen::Loop>& loops, codegen::Value number, int vector,
                int depth);
// The innermost index steps by `lane` too, from here on.
void bind_lanes(codegen::Emitter& emitter, const std::vector<codegen::Loop>& loops, int vector, int depth);

}  // namespace solstice::families
