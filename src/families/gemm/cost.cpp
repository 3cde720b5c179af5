#include "families/gemm/cost.h"

#include <algorithm>

#include "families/gemm/grouped.h"
#include "families/gemm/rules.h"
#include "families/gemm/stream.h"
#include "families/tensor_core/stream_k.h"

namespace solstice::families::gemm {

Cost estimate(const Context& context, const Problem& problem, const Settings& s) {
  const bool simt = s.math == Math::kSimt;
  if (is_grouped(problem)) return estimate_grouped(context, problem, s);
  if (is_gemv(s)) return simt ? estimate_gemv(context, problem, s) : estimate_gemv_halves(context, problem, s);
  if (s.stream != Streamed::kNone) return estimate_stream(context, problem, s);
  return simt && s.tile_m == kSmallTile ? estimate_small(context, problem, s) : estimate_tiled(context, problem, s);
}

}  // namespace solstice::families::gemm
