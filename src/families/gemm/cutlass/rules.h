// The parts of CUTLASS's rules, and what they share.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families/gemm/cutlass/config.h"
#include "families/tensor_core/collective_rules.h"

namespace solstice::families::gemm {

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

bool is_tf32(const CutlassGemm& c);
bool both(const CutlassGemm& c, Major major);
// The epilogue through shared memory that goes with a schedule; kNoSmem: none does.
CutlassEpilogue epilogue_of(const CutlassGemm& c);

using CutlassRules = std::vector<Rule<CutlassGemm>>;
void add_type_rules(CutlassRules& rules);
void add_tile_rules(CutlassRules& rules);
void add_schedule_rules(CutlassRules& rules);
void add_cluster_rules(CutlassRules& rules);

}  // namespace solstice::families::gemm
