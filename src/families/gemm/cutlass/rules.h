// The rules of `backend=cutlass`, and the groups that they come in.
#pragma once

#include <vector>

#include "families/gemm/cutlass/config.h"
#include "families/tensor_core/collective_rules.h"

namespace solstice::families::gemm {

using CutlassRules = std::vector<Rule<CutlassGemm>>;
const CutlassRules& cutlass_rules();

void add_type_rules(CutlassRules& rules);
void add_tile_rules(CutlassRules& rules);
void add_schedule_rules(CutlassRules& rules);
void add_cluster_rules(CutlassRules& rules);

}  // namespace solstice::families::gemm
