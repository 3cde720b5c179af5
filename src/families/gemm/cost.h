// The cost model of family gemm.
//
// time = launches + a product's fixed cost + split + product, in sequence:
// - split: operands that need planes: (bytes read + bytes of planes written) / (copy ceiling x 0.80)
// - product: rounds of tiles over the SMs x (k of a tile at the pipe's measured ceiling x the tile's efficiency, plus
//   the tile's epilogue), or the bytes of operands and result at the copy ceiling, if that is longer.
//
// If blocks share the last tiles (tensor_core/stream_k.h), their round counts in proportion to its occupancy, and the
// fix-up is added; part of the gain is lost to the clock, since SMs without work leave others the power. A streamed
// operand (stream/cost.cpp, stream/gemv_cost.cpp) is read once at a share of the read ceiling, or split and multiplied
// by the SM with the most blocks, whichever takes longer; sums that several blocks share are written and read once
// more. A grouped product (grouped/cost.cpp) is walked as if rows were spread evenly over its groups. The pipe's
// ceiling is that of a large library product on this machine; products of a split math count each. The model is poor
// for small problems whose operands stay in L2, and at power-limited clocks.
#pragma once

#include "families/family.h"
#include "families/gemm/settings.h"

namespace solstice::families::gemm {

Cost estimate(const Context& context, const Problem& problem, const Settings& settings);
Cost estimate_tiled(const Context& context, const Problem& problem, const Settings& settings);
Cost estimate_stream(const Context& context, const Problem& problem, const Settings& settings);
Cost estimate_small(const Context& context, const Problem& problem, const Settings& settings);
Cost estimate_grouped(const Context& context, const Problem& problem, const Settings& settings);
Cost estimate_gemv(const Context& context, const Problem& problem, const Settings& settings);
Cost estimate_gemv_16_bit(const Context& context, const Problem& problem, const Settings& settings);

}  // namespace solstice::families::gemm
