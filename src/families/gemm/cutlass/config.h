// CUTLASS 3.x kernels for sm_90a as a front end must know them: which configurations its collective builders accept,
// which they compile and then run wrongly or not at all, and the resources of a configuration. The facts are those of
// CUTLASS 4.2's builders (include/cutlass/gemm/collective/builders/sm90_*,
// epilogue/collective/builders/sm90_builder.inl) and of its own list of valid kernels
// (python/cutlass_library/sm90_utils.py); docs/legality.md lists the rules.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "families/gemm/contraction.h"
#include "families/gemm/problem.h"
#include "families/rule.h"
#include "ir/knobs.h"

namespace solstice::families::gemm {

// The kernel schedule of CUTLASS: the loading mechanism, and the division of work among consumer warpgroups.
enum class CutlassSchedule {
  kTma,
  kWarpSpecialized,
  kCooperative,
  kPingpong,
  kCpAsync,
  kCpAsyncCooperative,
  kCpAsyncPingpong
};
enum class CutlassEpilogue { kNoSmem, kTma, kTmaCooperative };
enum class CutlassScheduler { kStreamK, kPersistent, kDynamic };

inline constexpr std::array<std::pair<CutlassSchedule, std::string_view>, 7> kSchedules = {
    {{CutlassSchedule::kCooperative, "cooperative"},
     {CutlassSchedule::kPingpong, "pingpong"},
     {CutlassSchedule::kWarpSpecialized, "warp_specialized"},
     {CutlassSchedule::kTma, "tma"},
     {CutlassSchedule::kCpAsync, "cp_async"},
     {CutlassSchedule::kCpAsyncCooperative, "cp_async_cooperative"},
     {CutlassSchedule::kCpAsyncPingpong, "cp_async_pingpong"}}};
inline constexpr std::array<std::pair<CutlassEpilogue, std::string_view>, 3> kEpilogues = {
    {{CutlassEpilogue::kTmaCooperative, "tma_cooperative"},
     {CutlassEpilogue::kTma, "tma"},
     {CutlassEpilogue::kNoSmem, "no_smem"}}};
inline constexpr std::array<std::pair<CutlassScheduler, std::string_view>, 3> kSchedulers = {
    {{CutlassScheduler::kPersistent, "persistent"},
     {CutlassScheduler::kStreamK, "stream_k"},
     {CutlassScheduler::kDynamic, "dynamic"}}};

template <class T, size_t kCount>
constexpr std::string_view text_of(const std::array<std::pair<T, std::string_view>, kCount>& names, T value) {
  for (const auto& [each, name] : names) {
    if (each == value) return name;
  }
  return "?";
}

struct CutlassGemm {
  // The problem.
  DType a = DType::kF32, b = DType::kF32, result = DType::kF32;  // operands as the tensor cores read them (f32: tf32)
  DType accumulator = DType::kF32;
  Major major_a = Major::kK, major_b = Major::kK;
  int64_t m = 0, n = 0, k = 0;                            // 0: not known
  int64_t align_a = 16, align_b = 16, align_result = 16;  // bytes that divide base, lines and batches
  int residuals = 0;   // tensors of the result's shape that the epilogue reads (C and further ones)
  bool fused = false;  // an epilogue beyond alpha and beta
  bool grouped = false;
  // The knobs.
  int tile_m = 128, tile_n = 128, tile_k = 64;
  int cluster_m = 1, cluster_n = 1, cluster_k = 1;
  int stages = 0;  // 0: as many as fit
  CutlassSchedule schedule = CutlassSchedule::kCooperative;
  CutlassEpilogue epilogue = CutlassEpilogue::kTmaCooperative;
  CutlassScheduler scheduler = CutlassScheduler::kPersistent;
  int split = 1;
  bool fast_accumulation = false;  // 8-bit floats: no second accumulator

  std::vector<std::pair<std::string, std::string>> knobs() const;
  static std::vector<KnobAxis<CutlassGemm>> axes();  // their legal values, for the search of the nearest ones

  int k_instruction() const;    // k of one wgmma
  int accumulators() const;     // registers a thread
  bool is_cooperative() const;  // two warpgroups share a tile
  bool loads_by_tma() const;
  bool from_registers() const;  // A goes through registers (RS): tf32 that is not K,K, mixed widths
  bool swaps_operands() const;  // the builder computes the transposed product
  int64_t epilogue_bytes() const;
  int64_t stage_bytes() const;
};

bool is_tf32(const CutlassGemm& c);
bool both(const CutlassGemm& c, Major major);
// The epilogue through shared memory that goes with a schedule; kNoSmem: none does.
CutlassEpilogue epilogue_of(const CutlassGemm& c);

// A kernel with `backend=cutlass`: its product and epilogue.
CutlassGemm cutlass_config(const ir::Program& program, const ir::Kernel& kernel, const Contraction& product);

}  // namespace solstice::families::gemm
