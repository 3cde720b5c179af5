#include "families/gemm/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "families/gemm/cost.h"
#include "families/gemm/prologue.h"
#include "families/gemm/stream.h"
#include "numerics/policy.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kStageRow = 128;      // bytes along k of one line in a slot
constexpr int64_t kStagingWarp = 4096;  // two buffers of 16 x 32 floats

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
       fmt::format("{}; math=simt: 128x128, 32x32; a third extent, if written, is the k of a stage", tile_list()),
       "auto",
       "rows x columns of the result a block computes",
       2,
       3},
      {"cluster",
       "size",
       {},
       "1x1, 2x1, 1x2; 1x4, 1x8 where elements need their row's results; backend=cutlass: powers of two, at most 8 "
       "blocks",
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
       "operand (of the result's rows or columns) that is read once and split in registers, for few lines of the "
       "other"},
      {"split",
       "int",
       {},
       "1..128",
       "auto",
       "blocks that share the k of a tile; without `stream`: of the tiles behind the last whole round, on tensor "
       "cores"},
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
       "backend=cutlass: how results leave; auto: what goes with `schedule`"},
      {"scheduler",
       "name",
       {"persistent", "stream_k", "dynamic"},
       "",
       "persistent",
       "backend=cutlass: how tiles reach blocks"},
      {"grouped",
       "bool",
       {"true", "false"},
       "",
       "auto",
       "each row chooses its matrix (experts); auto: as the equations say"},
      int_knob("group", 1, 64, "8", "row tiles walked before the next column of tiles (L2 reuse)"),
      {"prepack",
       "bool",
       {"true", "false"},
       "",
       "auto",
       "split parameters once, at load (needs frozen weights); auto: whenever allowed"},
      {"backend", "name", {"lean", "cutlass"}, "", "lean", "lean: own headers; cutlass: not built yet"},
  };
  mark_later(out);
  return out;
}

}  // namespace

int64_t clusters_at_once(const machine::Machine& machine, int64_t blocks) {
  constexpr int64_t kLeftOver = 12;  // an H200 with 132 SMs holds 66 clusters of 2, 30 of 4 and 15 of 8
  return std::max<int64_t>(1, blocks <= 2 ? machine.sm_count / blocks : (machine.sm_count - kLeftOver) / blocks);
}

DType operand_dtype(const Contraction& product) {
  const bool alike = product.a.dtype == product.b.dtype || (is_fp8(product.a.dtype) && is_fp8(product.b.dtype));
  return alike ? product.a.dtype : DType::kF32;
}
DType operand_dtype(const Problem& problem) { return operand_dtype(problem.product); }

std::vector<Math> allowed_maths(const Context& context, const Problem& problem) {
  const auto policy = numerics::policy_from_name(context.numerics).value_or(numerics::Policy::kReference);
  return numerics::legal_maths(policy, operand_dtype(problem));
}

std::string kib(int64_t bytes) {
  return bytes % 1024 ? fmt::format("{} B", bytes) : fmt::format("{} KiB", bytes / 1024);
}

const std::vector<Tile>& tiles() {
  static const std::vector<Tile> table = {{128, 256}, {128, 128}, {128, 64}, {64, 256}, {64, 128}, {64, 64}};
  return table;
}

std::string_view tile_list() { return "128x256, 128x128, 128x64, 64x256, 64x128, 64x64"; }

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

int stage_k(Math math) { return math == Math::kSimt ? 8 : static_cast<int>(kStageRow) / element_bytes(math); }

int element_bytes(Math math) { return math == Math::kTF32 || math == Math::kTF32x3 ? 4 : math == Math::kFP8 ? 1 : 2; }

bool is_scaled(Math math, const Problem& problem) {
  const bool halves = problem.product.a.dtype == DType::kF16 && problem.product.b.dtype == DType::kF16;
  return (math == Math::kFP16 || math == Math::kFP16x3) && !halves;
}

bool is_line_scaled(const Settings& s) { return s.scaled && numerics::info(s.math).planes == 1; }

bool needs_planes(const Settings& s, const OperandAccess& operand, Major major) {
  if (s.math == Math::kSimt || s.math == Math::kFP8) return false;  // fp8 is what is stored
  const bool native = !s.scaled && numerics::info(s.math).planes == 1 && element_bytes(s.math) == 2 &&
                      operand.dtype == (s.math == Math::kFP16 ? DType::kF16 : DType::kBF16);
  return !(native && copies_directly(operand, major));
}

bool is_packed(const ir::Program& program, const Settings& s, const OperandAccess& operand) {
  const auto is_weight = [&](int tensor) { return program.tensor(tensor).kind == ir::TensorKind::kParam; };
  return s.prepack && (operand.made ? std::all_of(operand.made->reads.begin(), operand.made->reads.end(), is_weight)
                                    : is_weight(operand.tensor));
}

namespace {

// `cluster` is a knob of the form with planes alone.
std::string stream_knob(const ir::Knobs& knobs) {
  return knobs.name_or("stream", knobs.find("cluster") ? "none" : "auto");
}

bool agrees(const Settings& s, const ir::Knobs& knobs, bool and_split) {
  const auto tile = knobs.size_or("tile", {}), cluster = knobs.size_or("cluster", {});
  if (tile.size() >= 2 && (s.tile_m != tile[0] || s.tile_n != tile[1])) return false;
  if (!cluster.empty() && s.cluster != cluster[0]) return false;
  if (cluster.size() > 1 && s.cluster_n != cluster[1]) return false;
  const std::string stream = stream_knob(knobs);
  return (stream == "auto" || stream == name_of(s.stream)) && (!and_split || knobs.int_or("split", s.split) == s.split);
}

}  // namespace

std::string_view name_of(Streamed stream) {
  return stream == Streamed::kNone ? "none" : stream == Streamed::kRows ? "rows" : "columns";
}

Settings settings_of(const Context& context, const ir::Kernel& kernel, const Problem& problem) {
  const ir::Knobs& knobs = kernel.knobs;
  const auto written = numerics::math_from_name(knobs.name_or("math", "auto"));
  const std::vector<Math> maths = written ? std::vector<Math>{*written} : allowed_maths(context, problem);
  const auto tile = knobs.size_or("tile", {});
  const auto cluster = knobs.size_or("cluster", {});
  // What is left to the family follows from what is written: the cheapest setting that agrees with it.
  const std::vector<Settings> ranked = ranked_settings(context, problem, maths);
  const auto first = [&](bool and_split) {
    return std::find_if(ranked.begin(), ranked.end(), [&](const Settings& s) { return agrees(s, knobs, and_split); });
  };
  const auto exact = first(true), found = exact != ranked.end() ? exact : first(false);
  Settings out = found != ranked.end() ? *found : best_settings(context, problem, maths);
  const std::string stream = stream_knob(knobs);
  if (stream != "auto") {
    const Streamed wanted = stream == "rows"      ? Streamed::kRows
                            : stream == "columns" ? Streamed::kColumns
                                                  : Streamed::kNone;
    if ((wanted == Streamed::kNone) != (out.stream == Streamed::kNone)) out.split = 1;
    out.stream = wanted;
  }
  out.split = static_cast<int>(knobs.int_or("split", out.split));
  if (tile.size() >= 2) out.tile_m = static_cast<int>(tile[0]), out.tile_n = static_cast<int>(tile[1]);
  out.tile_k = stage_k(out.math);
  if (tile.size() >= 3) out.tile_k = static_cast<int>(tile[2]);
  if (!cluster.empty()) out.cluster = static_cast<int>(cluster[0]);
  if (cluster.size() > 1) out.cluster_n = static_cast<int>(cluster[1]);
  out.cluster_k = cluster.size() > 2 ? static_cast<int>(cluster[2]) : 1;
  out.stages = static_cast<int>(knobs.int_or("stages", 0));
  out.group = static_cast<int>(knobs.int_or("group", 8));
  const std::string prepack = knobs.name_or("prepack", "auto");
  out.prepack = prepack == "true" || (prepack == "auto" && context.frozen);
  out.scaled = is_scaled(out.math, problem);
  out.dual = is_dual(problem);
  return out;
}

std::string Layout::text() const {
  std::string out =
      fmt::format("A {} x {} + B {} x {} + staging {}", slots_a, kib(slot_a), slots_b, kib(slot_b), kib(staging));
  if (scales) out += fmt::format(" + scales {}", kib(scales));
  return out + fmt::format(" + barriers {} = {}", kib(barriers), kib(bytes()));
}

Layout layout_of(const Settings& s, int64_t shared_limit) {
  const numerics::MathInfo& how = numerics::info(s.math);
  const bool by_chunk = s.scaled && !is_line_scaled(s), promoted = how.promoted || by_chunk;
  Layout out;
  out.groups = s.tile_m / 64;
  // With promotion an instruction covers 128 columns at most, so that sums and accumulator fit the registers.
  out.n = !promoted ? s.tile_n : s.dual ? s.tile_n / 2 : std::min(s.tile_n, 128);
  out.halves = s.tile_n / out.n;
  out.boxes = s.dual && !promoted ? 2 : 1;
  out.slot_a = how.planes * s.tile_m * kStageRow;
  out.slot_b = how.planes * out.n * kStageRow;
  out.staging = 4 * out.groups * kStagingWarp;
  // B's ring is deeper by the halves of a tile: both rings then hold the same k.
  const auto set = [&](int stages) {
    out.slots_a = stages;
    out.slots_b = stages * out.halves;
    // One more slot of scales than of planes (kernels/gemm/tensor.h).
    out.scales = by_chunk ? (out.slots_a + 1) * s.tile_m + (out.slots_b + 1) * 4 * out.n : 0;
    out.barriers = 16 * (out.slots_a + out.slots_b);
  };
  int stages = s.stages > 0 ? s.stages : 2;
  set(stages);
  while (s.stages == 0 && stages < 8) {
    set(stages + 1);
    if (out.bytes() > shared_limit) break;
    ++stages;
  }
  set(stages);
  return out;
}

}  // namespace solstice::families::gemm
