#include <algorithm>

#include "families/gemm/cutlass/rules.h"

namespace solstice::families::gemm {
namespace {

std::string schedule_text(const CutlassGemm& c) { return fmt::format("schedule={}", text_of(kSchedules, c.schedule)); }
std::string pair_text(const CutlassGemm& c) {
  return fmt::format("{}, epilogue={}", schedule_text(c), text_of(kEpilogues, c.epilogue));
}
bool shares_k(const CutlassGemm& c) { return c.scheduler == CutlassScheduler::kStreamK || c.split > 1; }

void add_epilogues(CutlassRules& rules) {
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.epilogue", "E116",
      "a schedule has its own epilogue (cooperative: tma_cooperative; pingpong, warp_specialized: tma; tma, cp_async: "
      "none), or no_smem: "
      "another pair compiles and gives wrong results",
      [](const CutlassGemm& c) { return c.epilogue != CutlassEpilogue::kNoSmem && c.epilogue != epilogue_of(c); },
      [](const CutlassGemm& c) { return fmt::format("`{}` is not a legal pair", pair_text(c)); }));
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.swapped", "E116",
      "TF32 with A contiguous along k and B along its columns, and a narrow B beside a wide A, are computed "
      "transposed, which an epilogue "
      "through shared memory does not undo: it compiles and is wrong",
      [](const CutlassGemm& c) { return c.swaps_operands() && c.epilogue != CutlassEpilogue::kNoSmem; },
      [](const CutlassGemm& c) {
        return fmt::format("`epilogue={}` of a product that is computed transposed", text_of(kEpilogues, c.epilogue));
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.fusion", "E116",
      "no_smem stores alpha * product + beta * C and has no visitor tree; any other epilogue needs shared "
      "memory",
      [](const CutlassGemm& c) { return c.fused && c.epilogue == CutlassEpilogue::kNoSmem; },
      [](const CutlassGemm& c) {
        return fmt::format("`{}` and equations beyond alpha * product + beta * C", pair_text(c));
      }));
}

}  // namespace

void add_schedule_rules(CutlassRules& rules) {
  add_epilogues(rules);
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.scheduler", "E116", "the dynamic tile scheduler is for sm_100",
      [](const CutlassGemm& c) { return c.scheduler == CutlassScheduler::kDynamic; },
      [](const CutlassGemm&) { return std::string("`scheduler=dynamic` does not exist for sm_90a"); }));
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.stream_k", "E116", "stream-K and split-K need cooperating warpgroups",
      [](const CutlassGemm& c) { return shares_k(c) && !c.is_cooperative(); },
      [](const CutlassGemm& c) { return fmt::format("`{}` cannot split the k of a tile", schedule_text(c)); }));
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.split", "E116", "splits of k are at least 1, and a mode of the stream-K scheduler",
      [](const CutlassGemm& c) { return c.split < 1 || (c.split > 1 && c.scheduler != CutlassScheduler::kStreamK); },
      [](const CutlassGemm& c) {
        return fmt::format("`split={}, scheduler={}`", c.split, text_of(kSchedulers, c.scheduler));
      }));
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.grouped", "E116",
      "grouped products have cooperative or pingpong schedules: no cp_async, no unspecialised ones",
      [](const CutlassGemm& c) {
        return c.grouped && c.schedule != CutlassSchedule::kCooperative && c.schedule != CutlassSchedule::kPingpong;
      },
      [](const CutlassGemm& c) { return fmt::format("`grouped=true, {}`", schedule_text(c)); }));
  rules.push_back(error_rule<CutlassGemm>(
      "schedule.grouped_scheduler", "E116",
      "grouped products have a tile scheduler of their own: no stream-K, no splits",
      [](const CutlassGemm& c) { return c.grouped && shares_k(c); },
      [](const CutlassGemm& c) {
        return fmt::format("`grouped=true, scheduler={}, split={}`", text_of(kSchedulers, c.scheduler), c.split);
      }));
}

}  // namespace solstice::families::gemm
