#include "families/gemm/cutlass.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/integer.h"

namespace solstice::families::gemm {
namespace {

constexpr int64_t kSharedBytes = 232448;                   // sm90_smem_capacity_bytes
constexpr int kMostRegisters = 255, kManyRegisters = 208;  // of accumulators a thread; CUTLASS itself changes its split at 208

constexpr std::array<std::pair<CutlassSchedule, std::string_view>, 7> kSchedules = {
    {{CutlassSchedule::kCooperative, "cooperative"},
     {CutlassSchedule::kPingpong, "pingpong"},
     {CutlassSchedule::kWarpSpecialized, "warp_specialized"},
     {CutlassSchedule::kTma, "tma"},
     {CutlassSchedule::kCpAsync, "cp_async"},
     {CutlassSchedule::kCpAsyncCooperative, "cp_async_cooperative"},
     {CutlassSchedule::kCpAsyncPingpong, "cp_async_pingpong"}}};
constexpr std::array<std::pair<CutlassEpilogue, std::string_view>, 3> kEpilogues = {
    {{CutlassEpilogue::kTmaCooperative, "tma_cooperative"}, {CutlassEpilogue::kTma, "tma"}, {CutlassEpilogue::kNoSmem, "no_smem"}}};
constexpr std::array<std::pair<CutlassScheduler, std::string_view>, 3> kSchedulers = {
    {{CutlassScheduler::kPersistent, "persistent"}, {CutlassScheduler::kStreamK, "stream_k"}, {CutlassScheduler::kDynamic, "dynamic"}}};

template <class T, size_t kCount>
std::string_view text_of(const std::array<std::pair<T, std::string_view>, kCount>& names, T value) {
  for (const auto& [each, name] : names) {
    if (each == value) return name;
  }
  return "?";
}

template <class T, size_t kCount>
T value_of(const std::array<std::pair<T, std::string_view>, kCount>& names, std::string_view text, T otherwise) {
  for (const auto& [each, name] : names) {
    if (name == text) return each;
  }
  return otherwise;
}

bool is_fp8(DType t) { return t == DType::kE4M3 || t == DType::kE5M2; }
bool is_8bit(DType t) { return size_of(t) == 1; }
bool is_tf32(const CutlassGemm& c) { return c.a == DType::kF32 && c.b == DType::kF32; }
bool both(const CutlassGemm& c, Major major) { return c.major_a == major && c.major_b == major; }

int to_multiple(int value, int of) { return std::max(of, (value + of / 2) / of * of); }
int power_of_two(int value) {
  int out = 1;
  while (2 * out <= value) out *= 2;
  return out;
}

std::string tile_text(const CutlassGemm& c) { return fmt::format("tile={}x{}x{}", c.tile_m, c.tile_n, c.tile_k); }
std::string cluster_text(const CutlassGemm& c) {
  return c.cluster_k == 1 ? fmt::format("cluster={}x{}", c.cluster_m, c.cluster_n)
                          : fmt::format("cluster={}x{}x{}", c.cluster_m, c.cluster_n, c.cluster_k);
}

// The epilogue that goes with a schedule and may be fused.
CutlassEpilogue epilogue_of(const CutlassGemm& c) {
  if (!c.loads_by_tma()) return CutlassEpilogue::kNoSmem;
  return c.is_cooperative() ? CutlassEpilogue::kTmaCooperative : CutlassEpilogue::kTma;
}

bool legal_pair(const CutlassGemm& c) {
  if (c.epilogue == CutlassEpilogue::kNoSmem) return true;
  return c.epilogue == epilogue_of(c);
}

bool legal_columns(const CutlassGemm& c) {
  if (c.a == DType::kI8 || c.a == DType::kU8) return c.tile_n == 8 || c.tile_n == 24 || c.tile_n % 16 == 0;
  if (c.epilogue == CutlassEpilogue::kNoSmem) return c.tile_n % 8 == 0;
  return c.tile_n == 8 || c.tile_n % 16 == 0;
}

int least_blocks(const CutlassGemm& c) {
  if (c.a != c.b && size_of(c.a) != size_of(c.b)) return 4;  // mixed widths
  return c.from_registers() ? 3 : 1;
}

bool legal_types(const CutlassGemm& c) {
  if (is_tf32(c) || is_fp8(c.a) || is_fp8(c.b)) return c.accumulator == DType::kF32;
  if (c.a == DType::kBF16 || c.b == DType::kBF16) return c.accumulator == DType::kF32;
  if (c.a == DType::kF16 && c.b == DType::kF16) return c.accumulator == DType::kF32 || c.accumulator == DType::kF16;
  if (is_integer(c.a) && is_integer(c.b)) return c.accumulator == DType::kI32;
  return true;
}

using Rules = std::vector<Rule<CutlassGemm>>;

void add_types(Rules& rules) {
  rules.push_back(
      {"types.operands", "E118", Severity::kError,
       "operands are f16, bf16, f32 (as TF32), e4m3, e5m2 or 8-bit integers; two widths only with the narrow one contiguous "
       "along k",
       [](const CutlassGemm& c) {
         const auto known = [](DType t) {
           return t != DType::kF64 && t != DType::kI64 && t != DType::kI32 && t != DType::kI16 && t != DType::kBool;
         };
         if (!known(c.a) || !known(c.b)) return true;
         if (size_of(c.a) == size_of(c.b)) return is_integer(c.a) != is_integer(c.b) || (size_of(c.a) == 2 && c.a != c.b);
         if (is_tf32(c) || c.a == DType::kF32 || c.b == DType::kF32) return true;
         return (size_of(c.a) < size_of(c.b) ? c.major_a : c.major_b) != Major::kK;
       },
       [](const CutlassGemm& c) { return fmt::format("no tensor-core product of {} and {} in this layout", name_of(c.a), name_of(c.b)); },
       nullptr});
  rules.push_back({"types.accumulator", "E118", Severity::kError,
                   "sums are f32 (f16 operands also f16, 8-bit integers i32): other accumulators have no instruction",
                   [](const CutlassGemm& c) { return !legal_types(c); },
                   [](const CutlassGemm& c) {
                     return fmt::format("no instruction multiplies {} and {} into {}", name_of(c.a), name_of(c.b), name_of(c.accumulator));
                   },
                   [](CutlassGemm& c) { c.accumulator = is_integer(c.a) ? DType::kI32 : DType::kF32; }});
  rules.push_back({"layout.contiguous", "E114", Severity::kError, "an operand is contiguous in k or in its rows (columns)",
                   [](const CutlassGemm& c) { return c.major_a == Major::kNone || c.major_b == Major::kNone; },
                   [](const CutlassGemm&) { return std::string("an operand is contiguous in neither of its dimensions"); }, nullptr});
  rules.push_back({"layout.8bit", "E114", Severity::kError,
                   "8-bit operands are contiguous along k: another layout compiles through registers and is wrong or refused",
                   [](const CutlassGemm& c) { return is_8bit(c.a) && is_8bit(c.b) && !both(c, Major::kK); },
                   [](const CutlassGemm& c) { return fmt::format("{} operands that are not contiguous along k", name_of(c.a)); }, nullptr});
  rules.push_back({"layout.alignment", "E114", Severity::kError,
                   "the copy engine needs base, lines and batches of A, B and the result at multiples of 16 bytes; cp_async schedules 4",
                   [](const CutlassGemm& c) {
                     const int64_t needed = c.loads_by_tma() ? 16 : 4;
                     return std::min(c.align_a, c.align_b) < needed || (c.epilogue != CutlassEpilogue::kNoSmem && c.align_result < 16);
                   },
                   [](const CutlassGemm& c) {
                     return fmt::format("operands and result are aligned to {}, {} and {} bytes; `schedule={}` needs {}", c.align_a,
                                        c.align_b, c.align_result, text_of(kSchedules, c.schedule), c.loads_by_tma() ? 16 : 4);
                   },
                   [](CutlassGemm& c) {
                     c.epilogue = CutlassEpilogue::kNoSmem;
                     if (std::min(c.align_a, c.align_b) < 16)
                       c.schedule = c.is_cooperative() ? CutlassSchedule::kCpAsyncCooperative : CutlassSchedule::kCpAsync,
                       c.cluster_m = c.cluster_n = 1;
                   }});
}

void add_tile(Rules& rules) {
  rules.push_back({"tile.largest", "E111", Severity::kError, "no extent of a tile is above 256",
                   [](const CutlassGemm& c) {
                     return std::max({c.tile_m, c.tile_n, c.tile_k}) > 256 || std::min({c.tile_m, c.tile_n, c.tile_k}) < 1;
                   },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: extents are 1 to 256", tile_text(c)); },
                   [](CutlassGemm& c) {
                     for (int* extent : {&c.tile_m, &c.tile_n, &c.tile_k}) *extent = std::clamp(*extent, 8, 256);
                   }});
  rules.push_back({"tile.rows", "E111", Severity::kError, "the rows of a tile are a multiple of 64, those of one wgmma",
                   [](const CutlassGemm& c) { return c.tile_m % 64 != 0; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: {} rows are no multiple of 64", tile_text(c), c.tile_m); },
                   [](CutlassGemm& c) { c.tile_m = std::min(256, to_multiple(c.tile_m, 64)); }});
  rules.push_back({"tile.rows_shared", "E111", Severity::kError,
                   "two cooperating warpgroups share the rows of a tile: a multiple of 128 (192 fails in CUTLASS's layouts)",
                   [](const CutlassGemm& c) { return c.is_cooperative() && c.tile_m % 128 != 0; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: two warpgroups cannot share {} rows", tile_text(c), c.tile_m); },
                   [](CutlassGemm& c) { c.tile_m = c.tile_m < 128 ? 128 : c.tile_m / 128 * 128; }});
  rules.push_back(
      {"tile.columns", "E111", Severity::kError,
       "the columns of a tile are a multiple of 8; with an epilogue through shared memory of 16, or 8; of 8-bit integers 8, 24 "
       "or a multiple of 16",
       [](const CutlassGemm& c) { return !legal_columns(c); },
       [](const CutlassGemm& c) { return fmt::format("`{}`: no instruction and epilogue for {} columns", tile_text(c), c.tile_n); },
       [](CutlassGemm& c) { c.tile_n = to_multiple(c.tile_n, 16); }});
  rules.push_back({"tile.depth", "E111", Severity::kError,
                   "k of a tile is a multiple of one instruction's (16 of 16-bit, 8 of TF32, 32 of 8-bit operands)",
                   [](const CutlassGemm& c) { return c.tile_k % c.k_instruction() != 0; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: an instruction adds up {} k", tile_text(c), c.k_instruction()); },
                   [](CutlassGemm& c) { c.tile_k = to_multiple(c.tile_k, c.k_instruction()); }});
  rules.push_back({"tile.depth_registers", "E111", Severity::kError,
                   "where an operand goes through registers, a tile holds more than two instructions' k, of mixed widths at least four",
                   [](const CutlassGemm& c) { return c.tile_k < least_blocks(c) * c.k_instruction(); },
                   [](const CutlassGemm& c) {
                     return fmt::format("`{}`: an operand goes through registers, which takes k of at least {}", tile_text(c),
                                        least_blocks(c) * c.k_instruction());
                   },
                   [](CutlassGemm& c) { c.tile_k = 4 * c.k_instruction(); }});
  rules.push_back({"tile.tf32_transposed", "E111", Severity::kError,
                   "TF32 with both operands contiguous along their rows is transposed in shared memory: k of a tile is exactly 32",
                   [](const CutlassGemm& c) { return is_tf32(c) && both(c, Major::kMN) && c.tile_k != 32; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: TF32 of transposed operands needs a k of 32", tile_text(c)); },
                   [](CutlassGemm& c) { c.tile_k = 32; }});
  rules.push_back(
      {"tile.tf32_columns", "E111", Severity::kError,
       "TF32: the columns of a tile are a multiple of its k (unless both operands are transposed)",
       [](const CutlassGemm& c) { return is_tf32(c) && !both(c, Major::kMN) && c.tile_n % c.tile_k != 0; },
       [](const CutlassGemm& c) { return fmt::format("`{}`: {} columns are no multiple of k {}", tile_text(c), c.tile_n, c.tile_k); },
       [](CutlassGemm& c) {
         c.tile_k = 32;
         c.tile_n = std::max(32, c.tile_n / 32 * 32);
       }});
  rules.push_back(
      {"tile.registers", "E111", Severity::kError,
       "a thread holds fewer than 256 sums: from there on CUTLASS compiles, wgmma is serialised and sums are spilled (8-bit "
       "floats with slow accumulation hold twice as many)",
       [](const CutlassGemm& c) { return c.accumulators() > kMostRegisters; },
       [](const CutlassGemm& c) { return fmt::format("`{}`: {} sums a thread do not fit its registers", tile_text(c), c.accumulators()); },
       [](CutlassGemm& c) {
         int& extent = c.tile_m > c.tile_n && c.tile_m > (c.is_cooperative() ? 128 : 64) ? c.tile_m : c.tile_n;
         extent /= 2;
       }});
  rules.push_back({"tile.many_registers", "W111", Severity::kWarning, "above 208 sums a thread leave few registers for anything else",
                   [](const CutlassGemm& c) { return c.accumulators() > kManyRegisters; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: {} sums a thread", tile_text(c), c.accumulators()); }, nullptr});
  rules.push_back(
      {"tile.narrow_instruction", "W111", Severity::kWarning,
       "columns beside 8, 16, 32, 64, 96, 128, 192 and 256 need CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED: without it they are cut into "
       "smaller instructions",
       [](const CutlassGemm& c) {
         constexpr std::array<int, 8> kWide = {8, 16, 32, 64, 96, 128, 192, 256};
         return std::find(kWide.begin(), kWide.end(), c.tile_n) == kWide.end();
       },
       [](const CutlassGemm& c) { return fmt::format("`{}`: {} columns are no default instruction", tile_text(c), c.tile_n); }, nullptr});
}

void add_cluster(Rules& rules) {
  rules.push_back({"cluster.depth", "E112", Severity::kError, "a cluster has one block along k: more compile and are wrong",
                   [](const CutlassGemm& c) { return c.cluster_k != 1; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: clusters along k", cluster_text(c)); },
                   [](CutlassGemm& c) { c.cluster_k = 1; }});
  rules.push_back({"cluster.power", "E112", Severity::kError, "the extents of a cluster are powers of two",
                   [](const CutlassGemm& c) {
                     const auto power = [](int v) { return v > 0 && (v & (v - 1)) == 0; };
                     return !power(c.cluster_m) || !power(c.cluster_n);
                   },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: extents are powers of two", cluster_text(c)); },
                   [](CutlassGemm& c) { c.cluster_m = power_of_two(c.cluster_m), c.cluster_n = power_of_two(c.cluster_n); }});
  rules.push_back({"cluster.size", "E112", Severity::kError, "a cluster has at most 8 blocks (16 are not portable)",
                   [](const CutlassGemm& c) { return c.cluster_m * c.cluster_n > 8; },
                   [](const CutlassGemm& c) { return fmt::format("`{}`: {} blocks", cluster_text(c), c.cluster_m * c.cluster_n); },
                   [](CutlassGemm& c) {
                     while (c.cluster_m * c.cluster_n > 8) (c.cluster_m >= c.cluster_n ? c.cluster_m : c.cluster_n) /= 2;
                   }});
  rules.push_back(
      {"cluster.cp_async", "E112", Severity::kError, "only the copy engine writes into other blocks: cp_async schedules have no cluster",
       [](const CutlassGemm& c) { return !c.loads_by_tma() && c.cluster_m * c.cluster_n > 1; },
       [](const CutlassGemm& c) { return fmt::format("`{}` with `schedule={}`", cluster_text(c), text_of(kSchedules, c.schedule)); },
       [](CutlassGemm& c) { c.cluster_m = c.cluster_n = 1; }});
  rules.push_back(
      {"cluster.slices", "E112", Severity::kError,
       "blocks that share an operand load a slice each: of a tile's rows over the cluster's columns, and the other way round, at least 8 "
       "lines, a whole number of them",
       [](const CutlassGemm& c) { return c.tile_m % (8 * c.cluster_n) != 0 || c.tile_n % (8 * c.cluster_m) != 0; },
       [](const CutlassGemm& c) { return fmt::format("`{}` does not cut `{}` into slices of 8 lines", cluster_text(c), tile_text(c)); },
       [](CutlassGemm& c) {
         while (c.cluster_n > 1 && c.tile_m % (8 * c.cluster_n) != 0) c.cluster_n /= 2;
         while (c.cluster_m > 1 && c.tile_n % (8 * c.cluster_m) != 0) c.cluster_m /= 2;
       }});
  rules.push_back({"cluster.grid", "W112", Severity::kWarning, "a cluster larger than the grid of tiles leaves blocks without work",
                   [](const CutlassGemm& c) {
                     return c.m > 0 && c.n > 0 && (c.cluster_m > ceil_div(c.m, c.tile_m) || c.cluster_n > ceil_div(c.n, c.tile_n));
                   },
                   [](const CutlassGemm& c) {
                     return fmt::format("`{}` over {}x{} tiles", cluster_text(c), ceil_div(c.m, c.tile_m), ceil_div(c.n, c.tile_n));
                   },
                   nullptr});
}

void add_schedule(Rules& rules) {
  rules.push_back(
      {"schedule.epilogue", "E116", Severity::kError,
       "a schedule has its own epilogue (cooperative: tma_cooperative; pingpong, warp_specialized, tma: tma; cp_async: no_smem), or no_smem: "
       "another pair compiles and gives wrong results",
       [](const CutlassGemm& c) { return !legal_pair(c); },
       [](const CutlassGemm& c) {
         return fmt::format("`schedule={}, epilogue={}` is no pair", text_of(kSchedules, c.schedule), text_of(kEpilogues, c.epilogue));
       },
       [](CutlassGemm& c) { c.epilogue = epilogue_of(c); }});
  rules.push_back({"schedule.scheduler", "E116", Severity::kError, "the dynamic tile scheduler is for sm_100",
                   [](const CutlassGemm& c) { return c.scheduler == CutlassScheduler::kDynamic; },
                   [](const CutlassGemm&) { return std::string("`scheduler=dynamic` does not exist for sm_90a"); },
                   [](CutlassGemm& c) { c.scheduler = CutlassScheduler::kPersistent; }});
  rules.push_back(
      {"schedule.stream_k", "E116", Severity::kError, "stream-K and splits of k are for cooperating warpgroups alone",
       [](const CutlassGemm& c) { return (c.scheduler == CutlassScheduler::kStreamK || c.split > 1) && !c.is_cooperative(); },
       [](const CutlassGemm& c) { return fmt::format("`schedule={}` cannot share a tile's k", text_of(kSchedules, c.schedule)); },
       [](CutlassGemm& c) { c.scheduler = CutlassScheduler::kPersistent, c.split = 1; }});
  rules.push_back({"schedule.split", "E116", Severity::kError, "splits of k are a mode of the stream-K scheduler",
                   [](const CutlassGemm& c) { return c.split > 1 && c.scheduler != CutlassScheduler::kStreamK; },
                   [](const CutlassGemm& c) { return fmt::format("`split={}` without `scheduler=stream_k`", c.split); },
                   [](CutlassGemm& c) { c.scheduler = CutlassScheduler::kStreamK; }});
  rules.push_back(
      {"schedule.swapped", "E116", Severity::kError,
       "TF32 with A contiguous along k and B along its columns, and a narrow B beside a wide A, are computed transposed, which an epilogue "
       "through shared memory does not undo: it compiles and is wrong",
       [](const CutlassGemm& c) { return c.swaps_operands() && c.epilogue != CutlassEpilogue::kNoSmem; },
       [](const CutlassGemm& c) {
         return fmt::format("`epilogue={}` of a product that is computed transposed", text_of(kEpilogues, c.epilogue));
       },
       [](CutlassGemm& c) { c.epilogue = CutlassEpilogue::kNoSmem; }});
  rules.push_back({"schedule.fusion", "E116", Severity::kError,
                   "an epilogue of one's own goes through shared memory: no_smem has no visitor tree",
                   [](const CutlassGemm& c) { return c.fused && c.epilogue == CutlassEpilogue::kNoSmem; },
                   [](const CutlassGemm&) { return std::string("equations behind the product with `epilogue=no_smem`"); },
                   [](CutlassGemm& c) {
                     if (!c.loads_by_tma()) c.schedule = CutlassSchedule::kCooperative;
                     c.epilogue = epilogue_of(c);
                   }});
  rules.push_back({"schedule.residuals", "E116", Severity::kError,
                   "one tensor of the result's shape is read as C; further ones take shared memory from the stages",
                   [](const CutlassGemm& c) { return c.residuals > 4; },
                   [](const CutlassGemm& c) { return fmt::format("{} tensors of the result's shape in one epilogue", c.residuals); },
                   nullptr});
  rules.push_back({"schedule.grouped", "E116", Severity::kError,
                   "grouped products have cooperative or pingpong schedules, aligned operands and no cp_async",
                   [](const CutlassGemm& c) {
                     return c.grouped && c.schedule != CutlassSchedule::kCooperative && c.schedule != CutlassSchedule::kPingpong;
                   },
                   [](const CutlassGemm& c) { return fmt::format("`grouped=true, schedule={}`", text_of(kSchedules, c.schedule)); },
                   [](CutlassGemm& c) { c.schedule = CutlassSchedule::kCooperative, c.epilogue = CutlassEpilogue::kTmaCooperative; }});
}

void add_stages(Rules& rules) {
  rules.push_back({"stages.two", "E113", Severity::kError, "two stages at least fit into the 227 KiB of a block",
                   [](const CutlassGemm& c) { return c.fitting_stages() < 2 || (c.stages != 0 && c.stages < 2); },
                   [](const CutlassGemm& c) {
                     return fmt::format("`{}`: {} B a stage beside {} B of epilogue", tile_text(c), c.stage_bytes(), c.epilogue_bytes());
                   },
                   [](CutlassGemm& c) {
                     c.stages = 0;
                     if (c.fitting_stages() >= 2) return;
                     if (c.tile_k > 4 * c.k_instruction())
                       c.tile_k /= 2;
                     else
                       (c.tile_n >= c.tile_m ? c.tile_n : c.tile_m) /= 2;
                   }});
  rules.push_back({"stages.fit", "E113", Severity::kError, "explicit stages that do not fit compile and fail when the kernel is launched",
                   [](const CutlassGemm& c) { return c.stages > c.fitting_stages(); },
                   [](const CutlassGemm& c) {
                     return fmt::format("`stages={}`: {} x {} B and {} B of epilogue are more than {} B", c.stages, c.stages,
                                        c.stage_bytes(), c.epilogue_bytes(), kSharedBytes);
                   },
                   [](CutlassGemm& c) { c.stages = c.fitting_stages(); }});
  rules.push_back({"stages.few", "W113", Severity::kWarning, "fewer than three stages do not hide the memory's latency",
                   [](const CutlassGemm& c) { return (c.stages ? c.stages : c.fitting_stages()) < 3; },
                   [](const CutlassGemm& c) { return fmt::format("{} stages", c.stages ? c.stages : c.fitting_stages()); }, nullptr});
}

Rules make_rules() {
  Rules out;
  add_types(out);
  add_tile(out);
  add_schedule(out);
  add_cluster(out);
  add_stages(out);
  return out;
}

// Bytes that divide every line, batch and the offset of an operand.
int64_t alignment_of(const OperandAccess& x, int64_t line, int64_t k) {
  int64_t out = 16;
  for (const int64_t stride : {x.offset, x.batch, line > 1 && x.line != 1 ? x.line : 0, k > 1 && x.k != 1 ? x.k : 0}) {
    if (stride) out = std::gcd(out, stride * size_of(x.dtype));
  }
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> CutlassGemm::knobs() const {
  return {
      {"tile", fmt::format("{}x{}x{}", tile_m, tile_n, tile_k)},
      {"cluster", cluster_k == 1 ? fmt::format("{}x{}", cluster_m, cluster_n) : fmt::format("{}x{}x{}", cluster_m, cluster_n, cluster_k)},
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

// The closed form of StageCountAutoCarveout with the TMA epilogue's shared storage.
int64_t CutlassGemm::epilogue_bytes() const {
  const int64_t row_vector = fused ? 4 * tile_n : 0;
  if (epilogue == CutlassEpilogue::kNoSmem) return 0;
  const int64_t size = size_of(result);
  const int64_t rows = std::min(is_cooperative() ? 128 : 64, tile_m);
  const int64_t wide = !is_cooperative() && size == 1 && tile_n % 64 == 0 ? 64 : 32;
  const int64_t columns = std::gcd(std::min<int64_t>(wide, tile_n), static_cast<int64_t>(tile_n));
  const int64_t tiles = tile_m * tile_n / (rows * columns);
  const int64_t stores = std::min<int64_t>(tiles, 2);
  const int64_t loads = residuals == 0 ? 0 : size > 1 ? std::max(std::min<int64_t>(tiles, 4), stores + 1) : std::min<int64_t>(tiles, 4);
  // C and the result share their slots where they have one width of 16 bits or more.
  const int64_t slots = loads == 0 ? stores : size > 1 ? loads : loads + stores;
  const int64_t further = std::max(residuals - 1, 0) * std::min<int64_t>(tiles, 4);
  return (slots + further) * rows * columns * size + row_vector + (size == 4 ? 2048 : 1024);
}

int64_t CutlassGemm::stage_bytes() const { return round_up(tile_k * (tile_m * size_of(a) + tile_n * size_of(b)), 128) + 16; }

int CutlassGemm::fitting_stages() const {
  return static_cast<int>((kSharedBytes - round_up(epilogue_bytes(), 128)) / std::max<int64_t>(stage_bytes(), 1));
}

const std::vector<Rule<CutlassGemm>>& cutlass_rules() {
  static const Rules rules = make_rules();
  return rules;
}

CutlassGemm cutlass_config(const ir::Program& program, const Contraction& product, const ir::Knobs& knobs) {
  CutlassGemm out;
  out.a = product.a.dtype, out.b = product.b.dtype;
  const ir::Equation& equation = program.equation(product.equation);
  out.result = program.target_of(equation).dtype.value_or(DType::kF32);
  out.accumulator = is_integer(out.a) ? DType::kI32 : DType::kF32;
  out.major_a = major_of(product.a, product.m, product.k), out.major_b = major_of(product.b, product.n, product.k);
  out.m = product.m, out.n = product.n, out.k = product.k;
  out.align_a = alignment_of(product.a, product.m, product.k), out.align_b = alignment_of(product.b, product.n, product.k);
  out.align_result = std::gcd<int64_t>(16, product.n * size_of(out.result));
  out.fused = equation.rhs.get() != product.node;
  out.grouped = knobs.name_or("grouped", "false") == "true";
  const auto tile = knobs.size_or("tile", {128, 128});
  const auto cluster = knobs.size_or("cluster", {1, 1});
  out.tile_m = static_cast<int>(tile[0]), out.tile_n = static_cast<int>(tile.size() > 1 ? tile[1] : 128);
  out.tile_k = tile.size() > 2 ? static_cast<int>(tile[2]) : 4 * out.k_instruction();
  out.cluster_m = static_cast<int>(cluster[0]), out.cluster_n = static_cast<int>(cluster.size() > 1 ? cluster[1] : 1);
  out.cluster_k = static_cast<int>(cluster.size() > 2 ? cluster[2] : 1);
  out.stages = static_cast<int>(knobs.int_or("stages", 0));
  out.schedule =
      value_of(kSchedules, knobs.name_or("schedule", out.tile_m == 64 ? "pingpong" : "cooperative"), CutlassSchedule::kCooperative);
  const std::string epilogue = knobs.name_or("epilogue", "auto");
  out.epilogue = epilogue == "auto" ? (out.swaps_operands() ? CutlassEpilogue::kNoSmem : epilogue_of(out))
                                    : value_of(kEpilogues, epilogue, epilogue_of(out));
  out.scheduler = value_of(kSchedulers, knobs.name_or("scheduler", "persistent"), CutlassScheduler::kPersistent);
  out.split = static_cast<int>(knobs.int_or("split", 1));
  return out;
}

}  // namespace solstice::families::gemm
