// Two sums of products as one product: the pair of a gated activation, which shares an operand.
#pragma once

#include "families/gemm/contraction.h"

namespace solstice::families::gemm {

// The same product with the operands, and so M and N, exchanged. Of one sum.
Contraction exchanged(const Contraction& c);

// Two sums, oriented so that both share A. Errors: illegal_knobs where they share no operand, or their extents differ;
// not_yet where no kernel takes the pair.
Result<Contraction> paired(const ir::Program& program, Contraction x, Contraction y);

}  // namespace solstice::families::gemm
