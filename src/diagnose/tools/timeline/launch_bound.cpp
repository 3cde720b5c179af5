// Kernels that are shorter than what lies between two of them.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

// Of one launch that does it all: kernels of more than `most` as they are, those of a few launches' time by their
// equations alone, and one filling and draining of the GPU.
Seconds time_of_one(const ProgramView& view, Seconds most) {
  Seconds out = view.machine.launch_time(), filling;
  size_t small = 0;
  for (const KernelView& kernel : view.kernels) {
    if (kernel.kernel.once) continue;
    const bool long_enough = kernel.time() > most;
    const Seconds kept = long_enough ? kernel.time() : std::min(kernel.time(), longest_need(kernel.kernel));
    out += kept;
    filling += kernel.time() - kept;
    small += long_enough ? 0 : 1;
  }
  return small > 0 ? out + filling / static_cast<double>(small) : out;
}

void find_launches(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  if (view.time().value <= 0) return;  // neither measured nor predicted
  size_t launches = 0;
  for (const KernelView& kernel : view.kernels) launches += kernel.kernel.once ? 0 : kernel.kernel.launches();
  const Seconds between = view.machine.launch_time() * static_cast<double>(launches);
  const Seconds whole = view.time();  // launches are in it, predicted or measured
  const double share = std::min(between / whole, 1.0);
  if (launches < 2 || share < tool.threshold("share")) return;
  const Seconds one = time_of_one(view, view.machine.launch_time() * tool.threshold("small"));
  Finding finding =
      finding_on(tool, fmt::format("{} launches take {:.0f} % of its time", launches, 100 * share),
                 {std::max(1.0, whole / one), 1, "if one launch did it all, and filled and drained the GPU once"});
  finding.evidence.push_back(evidence("launches", static_cast<double>(launches), "", "plan"));
  finding.evidence.push_back(evidence("one launch more", view.machine.launch_time().value * 1e6, "us", "plan"));
  finding.actions.push_back(advice("fewer kernels; `launch graph` in the program replays them as one"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_launch_bound;
const Tool solstice_tools_launch_bound{
    .name = "launch bound",
    .question = "Do launches take the time, and not kernels?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"share", 0.2, "share of the time", "KernelPro, table 2: launch overhead above 20 % of the span"},
                   {"small", 5, "x of a launch", "as of many small kernels"}},
    .paper = "KernelPro: launch overhead",
    .of_program = find_launches,
    .explains = {"many small kernels", "gaps", "no overlap"},
};

}  // namespace solstice::diagnose
