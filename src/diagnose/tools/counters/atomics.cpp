// Atomic operations that L2 serves one after the other.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_atomics(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto returning = counter(*step, "lts__t_sectors_op_atom.sum");
    const auto reducing = counter(*step, "lts__t_sectors_op_red.sum");
    const auto all = counter(*step, "lts__t_sectors.sum");
    if (!returning || !reducing || !all || *all <= 0) continue;
    const double atomics = *returning + *reducing, share = atomics / *all;
    if (share < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view, fmt::format("{:.0f} % of what `{}` asks of L2 are atomic operations", 100 * share, step->entry),
        view.gain_to_bound(*step, "if nothing waited for atomic operations"));
    finding.place.step = step->step;
    if (step->sass) name_place(*step, &step->sass->mix, of_kind("atomic"), finding);
    finding.evidence.push_back(evidence("atomic sectors", atomics, "", "counters"));
    finding.evidence.push_back(evidence("sectors", *all, "", "counters"));
    finding.actions.push_back(advice("add up in a block first; a second pass over partial results"));
    finding.confidence = confidence_of_guess(*step);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_atomics;
const Tool solstice_tools_atomics{
    .name = "atomics",
    .question = "Does it wait for atomic operations?",
    .sources = {"counters"},
    .classes = {},
    .thresholds =
        {{"share", 0.1, "share of L2 sectors",
          "a finding of medium severity, if they took their share of the sectors; they are served more slowly"}},
    .of_kernel = find_atomics,
    .shows_as = stalls_of_atomics(),
    .explains = {"contended atomics"},
    .counters = {"lts__t_sectors_op_atom.sum", "lts__t_sectors_op_red.sum", "lts__t_sectors.sum"},
};

}  // namespace solstice::diagnose
