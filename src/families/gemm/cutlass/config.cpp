#include "families/gemm/cutlass/config.h"

#include <algorithm>

#include "base/integer.h"
#include "families/tensor_core/collective_epilogue.h"
#include "families/tensor_core/collective_rules.h"
#include "families/tensor_core/tile_config.h"

namespace solstice::families::gemm {

bool is_tf32(const CutlassGemm& c) { return c.a == DType::kF32 && c.b == DType::kF32; }
bool both(const CutlassGemm& c, Major major) { return c.major_a == major && c.major_b == major; }

CutlassEpilogue epilogue_of(const CutlassGemm& c) {
  if (!c.loads_by_tma() || c.schedule == CutlassSchedule::kTma) return CutlassEpilogue::kNoSmem;
  return c.is_cooperative() ? CutlassEpilogue::kTmaCooperative : CutlassEpilogue::kTma;
}

std::vector<std::pair<std::string, std::string>> CutlassGemm::knobs() const {
  return {{"tile", fmt::format("{}x{}x{}", tile_m, tile_n, tile_k)},
          {"cluster", cluster_value(*this)},
          {"stages", stages ? std::to_string(stages) : "auto"},
          {"schedule", std::string(text_of(kSchedules, schedule))},
          {"epilogue", std::string(text_of(kEpilogues, epilogue))},
          {"scheduler", std::string(text_of(kSchedulers, scheduler))},
          {"split", std::to_string(split)}};
}

int CutlassGemm::k_instruction() const { return 32 / std::max(size_of(a), size_of(b)); }
bool CutlassGemm::is_cooperative() const {
  return schedule == CutlassSchedule::kCooperative || schedule == CutlassSchedule::kCpAsyncCooperative;
}
bool CutlassGemm::loads_by_tma() const { return schedule < CutlassSchedule::kCpAsync; }

int CutlassGemm::accumulators() const {
  const int sums = tile_m * tile_n / (128 * (is_cooperative() ? 2 : 1));
  return is_fp8(a) && is_fp8(b) && !fast_accumulation ? 2 * sums : sums;
}

bool CutlassGemm::from_registers() const {
  if (size_of(a) != size_of(b)) return true;
  return is_tf32(*this) && !both(*this, Major::kK);
}

bool CutlassGemm::swaps_operands() const {
  if (is_tf32(*this)) return major_a == Major::kK && major_b == Major::kMN;
  return size_of(b) < size_of(a);
}

int64_t CutlassGemm::epilogue_bytes() const {
  if (epilogue == CutlassEpilogue::kNoSmem) return 0;
  // Grouped kernels keep tensor maps and a pipe of 8 tiles there too, rounded up.
  return stored_through_shared({result, align_result, residuals, fused}, tile_m, tile_n, is_cooperative()) +
         (grouped ? 1024 : 0);
}

int64_t CutlassGemm::stage_bytes() const {
  return round_up(tile_k * (tile_m * size_of(a) + tile_n * size_of(b)), 128) + 16;
}

// A change of schedule or epilogue is a larger one than of a tile.
std::vector<KnobAxis<CutlassGemm>> CutlassGemm::axes() {
  using C = CutlassGemm;
  return {
      knob_axis<&C::tile_n>({8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256}),
      knob_axis<&C::tile_m>({64, 128, 192, 256}, 2),
      knob_axis<&C::tile_k>({8, 16, 24, 32, 48, 64, 96, 128, 192, 256}, 2),
      knob_axis<&C::cluster_m>({1, 2, 4, 8}),
      knob_axis<&C::cluster_n>({1, 2, 4, 8}),
      knob_axis<&C::cluster_k>({1}),
      knob_axis<&C::stages>({0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
      knob_axis<&C::split>({1, 2, 4, 8, 16, 32}),
      knob_axis<&C::scheduler>({0, 1}, 3),
      knob_axis<&C::epilogue>({0, 1, 2}, 3),
      knob_axis<&C::schedule>({0, 1, 2, 3, 4, 5, 6}, 3),
  };
}

}  // namespace solstice::families::gemm
