#include "families/gemm/cutlass/rules.h"

namespace solstice::families::gemm {

const CutlassRules& cutlass_rules() {
  static const CutlassRules rules = [] {
    CutlassRules out;
    add_type_rules(out);
    add_tile_rules(out);
    add_schedule_rules(out);
    add_cluster_rules(out);
    append(out, stage_rules<CutlassGemm>());
    return out;
  }();
  return rules;
}

}  // namespace solstice::families::gemm
