// mean, var and logsumexp in terms of sum and max.
//
// A mean of more than 64 values is added up in fp64 and rounded once, so that it is right to the last place: data of
// one value has exactly that mean, whatever the order of summation and whichever kernel takes it. A GPU with fp64 units
// adds faster than memory delivers. var is the mean squared distance from that mean (two passes, no cancellation), in
// fp32. logsumexp is shifted by the maximum where that is finite.
#pragma once

#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// `root` is of `interner`; so is the result. `program` has the tensors that it reads.
ir::ExprRef expand_reducers(Interner& interner, const ir::Program& program, const ir::ExprRef& root);

}  // namespace solstice::codegen
