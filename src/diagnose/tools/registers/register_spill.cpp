// Values of a thread in local memory. KernelPro (arXiv 2606.26453) tells three cases apart: spills of a kernel that
// waits for memory anyway, of one that computes, and of one that does neither and waits for the spills themselves.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

std::string consequence(Class limited) {
  if (limited == Class::kDram || limited == Class::kL2) return "they compete with its loads for the L1";
  if (limited == Class::kTensor || limited == Class::kSimt || limited == Class::kSfu)
    return "they take issue slots from its arithmetic";
  return "each load of them is waited for";
}

// Local loads and stores take issue slots and L1 bandwidth; their share of the instructions is the most that they cost,
// if they are as many in time as they are in the text.
double share_of_spills(const StepFacts& step) {
  if (!step.sass || step.sass->mix.instructions <= 0) return 0.5;
  const SassMix& mix = step.sass->mix;
  const double spilled = mean_access(mix, "local", false).count + mean_access(mix, "local", true).count;
  return std::min(0.5, 4 * spilled / static_cast<double>(mix.instructions));
}

void find_spills(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const int64_t bytes = step->spill_stores.value_or(0) + step->spill_loads.value_or(0);
    if (static_cast<double>(bytes) < tool.threshold("bytes")) continue;
    const double share = share_of_spills(*step);
    Finding finding = finding_on(
        tool, view,
        fmt::format("`{}` spills {} bytes a thread to local memory, and {}", step->entry, bytes,
                    consequence(view.limited)),
        view.gain_of(*step, 1 / (1 - share),
                     fmt::format("without the {:.0f} % of its issue slots that spills may take", 100 * share)));
    finding.place.step = step->step;
    if (step->sass) name_place(*step, &step->sass->mix, accesses_of("local"), finding);
    finding.evidence.push_back(evidence("spill stores", static_cast<double>(*step->spill_stores), "B/thread", "ptxas"));
    finding.evidence.push_back(evidence("spill loads", static_cast<double>(*step->spill_loads), "B/thread", "ptxas"));
    finding.evidence.push_back(
        evidence("registers", static_cast<double>(step->registers.value_or(0)), "a thread", "ptxas"));
    finding.actions.push_back(advice("fewer live values: a smaller tile, less unrolling, fewer values a thread"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_register_spill;
const Tool solstice_tools_register_spill{
    .name = "register spill",
    .question = "Do values of a thread go to local memory?",
    .sources = {"ptxas"},
    .classes = {},
    .thresholds = {{"bytes", 1, "bytes a thread", "KernelPro, table 2: STL + LDL > 0"}},
    .paper = "KernelPro: register spill",
    .of_kernel = find_spills,
};

}  // namespace solstice::diagnose
