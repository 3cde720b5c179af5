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

void find_spills(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const int64_t bytes = step->spill_stores.value_or(0) + step->spill_loads.value_or(0);
    if (static_cast<double>(bytes) < tool.threshold("bytes")) continue;
    Finding finding = finding_on(tool, view,
                                 fmt::format("`{}` spills {} bytes a thread to local memory, and {}", step->entry,
                                             bytes, consequence(view.limited)),
                                 view.gain_to_bound(*step, "if nothing waited for spills"));
    finding.place.step = step->step;
    if (step->sass) name_place(*step, &step->sass->mix, accesses_of("local"), finding);
    finding.evidence.push_back(evidence("spill stores", static_cast<double>(*step->spill_stores), "B/thread", "ptxas"));
    finding.evidence.push_back(evidence("spill loads", static_cast<double>(*step->spill_loads), "B/thread", "ptxas"));
    finding.evidence.push_back(
        evidence("registers", static_cast<double>(step->registers.value_or(0)), "a thread", "ptxas"));
    finding.actions.push_back(advice("fewer live values: a smaller tile, less unrolling, fewer values a thread"));
    finding.confidence = confidence_of_guess(*step);
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
    .shows_as = stalls_of_narrow_accesses(),
    .explains = {"reads again", "partial writes", "L2 thrashing"},
};

}  // namespace solstice::diagnose
