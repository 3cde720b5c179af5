#include "families/gemm/knobs.h"

#include <fmt/format.h>

#include "families/tensor_core/tile_config.h"

namespace solstice::families::gemm {
namespace {

// Values of `backend=cutlass`, and it.
void mark_later(std::vector<KnobSpec>& knobs) {
  for (KnobSpec& knob : knobs) {
    if (knob.name == "schedule" || knob.name == "scheduler")
      knob.later.assign(knob.values.begin() + 1, knob.values.end());
    if (knob.name == "epilogue") knob.later = knob.values;
    if (knob.name == "backend") knob.later = {"cutlass"};
  }
}

std::vector<KnobSpec> made_knobs() {
  std::vector<KnobSpec> out = {
      {"math",
       "name",
       {"simt", "tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "fp16", "fp16x3", "fp8"},
       "",
       "auto",
       "how products are computed; auto: the fastest that the numerics policy allows"},
      {"tile",
       "size",
       {},
       fmt::format("{}; math=simt: 128x128, 32x32; an optional third extent is the k of a stage",
                   tensor_core::tile_list()),
       "auto",
       "rows x columns of a block's output tile",
       2,
       3},
      {"cluster",
       "size",
       {},
       "1x1, 2x1, 1x2; 1x4, 1x8 for row-resident epilogues; backend=cutlass: powers of two, at most 8 blocks",
       "auto",
       "blocks that share loads; 2x1: two tiles along M share B, 1x2: two along N share A",
       2,
       3},
      {"stages",
       "int",
       {},
       "2..8; backend=cutlass: as many as fit",
       "auto",
       "slots of the shared-memory rings; auto: as many as fit"},
      {"stream",
       "name",
       {"none", "rows", "columns"},
       "",
       "auto",
       "operand (that of the result's rows or columns) to read once and split in registers, if the other has "
       "few lines (GEMV, skinny GEMM)"},
      {"split",
       "int",
       {},
       "1..128",
       "auto",
       "split-K: blocks that share the k of a tile; without `stream`: of the tiles of the last, partial wave "
       "(stream-K)"},
      {"schedule",
       "name",
       {"cooperative", "pingpong", "warp_specialized", "tma", "cp_async", "cp_async_cooperative", "cp_async_pingpong"},
       "",
       "cooperative",
       "cooperative: consumer warpgroups share one tile; the others are of backend=cutlass"},
      {"epilogue",
       "name",
       {"tma_cooperative", "tma", "no_smem"},
       "",
       "auto",
       "backend=cutlass: epilogue; auto: the one that fits `schedule`"},
      {"scheduler", "name", {"persistent", "stream_k", "dynamic"}, "", "persistent", "backend=cutlass: tile scheduler"},
      {"grouped",
       "bool",
       {"true", "false"},
       "",
       "auto",
       "grouped GEMM: each row chooses its matrix (experts); auto: as in the equations"},
      int_knob("group", 1, 64, "8", "tiles along M before the next tile along N (rasterisation for L2 reuse)"),
      {"prepack",
       "bool",
       {"true", "false"},
       "",
       "auto",
       "split parameters once, at load (needs frozen weights); auto: whenever allowed"},
      {"backend", "name", {"lean", "cutlass"}, "", "lean", "lean: Solstice's device headers; cutlass: not built yet"},
  };
  mark_later(out);
  return out;
}

}  // namespace

const std::vector<KnobSpec>& knob_table() {
  static const std::vector<KnobSpec> specs = made_knobs();
  return specs;
}

const std::string& usual_value(std::string_view knob) {
  static const std::string none;
  for (const KnobSpec& spec : knob_table()) {
    if (spec.name == knob) return spec.otherwise;
  }
  return none;
}

}  // namespace solstice::families::gemm
