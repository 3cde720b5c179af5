// Sectors of 32 bytes that a request of a warp touches beyond those that its bytes fill.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Direction {
  const char* what;
  bool store;
  const char* metric;
  const char* sectors;  // in all
};
constexpr Direction kDirections[] = {
    {"loads", false, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"stores", true, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
     "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}};

// Of a request of the widest kind in the code, 32 threads of so many bits: no mix of the kinds has more of its own.
// Without machine code, of 4 bytes a thread.
double ideal_sectors(const StepFacts& step, bool store, double sector) {
  int widest = 0;
  if (step.sass) {
    for (const SassAccess& access : step.sass->mix.accesses) {
      if (access.space == "global" && access.store == store) widest = std::max(widest, access.bits);
    }
  }
  return std::max(1.0, 32.0 * (widest > 0 ? widest : 32) / 8 / sector);
}

// Of the sectors in both directions; 1 where they were not counted.
double share_of_direction(const StepFacts& step, const Direction& direction) {
  double all = 0;
  for (const Direction& each : kDirections) all += counter(step, each.sectors).value_or(0);
  const auto own = counter(step, direction.sectors);
  return own && all > 0 ? *own / all : 1;
}

void find_scattered(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    for (const Direction& each : kDirections) {
      const auto sectors = counter(*step, each.metric);
      const double ideal = ideal_sectors(*step, each.store, view.machine.sector.value);
      if (!sectors || *sectors < tool.threshold("sectors") * ideal) continue;
      const double share = share_of_direction(*step, each);
      const double gain = gain_without(share * (1 - ideal / *sectors));
      if (gain < tool.threshold("gain")) continue;
      Finding finding =
          finding_on(tool, view,
                     fmt::format("a warp's {} in `{}` touch {:.1f} sectors where {:.1f} would hold their bytes",
                                 each.what, step->entry, *sectors, ideal),
                     view.gain_of(*step, gain, "without the sectors that it does not use"));
      finding.place.step = step->step;
      if (step->sass) name_place(*step, &step->sass->mix, narrow_accesses("global", each.store), finding);
      finding.evidence.push_back(evidence(fmt::format("sectors a request, {}", each.what), *sectors, "", "counters"));
      finding.evidence.push_back(evidence("of all sectors", 100 * share, "%", "counters"));
      finding.actions.push_back(advice("neighbouring threads on neighbouring elements; a transpose in shared memory"));
      finding.confidence = step->sass ? Confidence::kHigh : Confidence::kMedium;
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Tool solstice_tools_uncoalesced_access;
const Tool solstice_tools_uncoalesced_access{
    .name = "uncoalesced access",
    .question = "Do warps touch more sectors than their bytes fill?",
    .sources = {"counters"},
    .classes = {},
    .thresholds = {{"sectors", 1.2, "x of the ideal", "KernelPro, table 2"},
                   {"gain", 1.01, "x", "a finding of low severity: the few accesses of a row cost nothing"}},
    .paper = "KernelPro: uncoalesced access, memory coalescing",
    .of_kernel = find_scattered,
    .shows_as = stalls_of_requests(),
    .explains = {"partial writes", "reads again", "L2 thrashing"},
    .counters = {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
                 "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
    .or_counters = {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
};

}  // namespace solstice::diagnose
