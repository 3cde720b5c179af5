// Global loads of few bytes a thread: each instruction moves a part of what it could.
#include <fmt/format.h>

#include "diagnose/access_width.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_narrow_loads(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const auto narrow = narrow_access(view, *step, false, tool.threshold("bits"));
    if (!narrow || narrow->gain() < tool.threshold("gain")) continue;
    const MeanAccess& found = narrow->found;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the loads of `{}` move {:.0f} bits a thread where 128 would do", step->entry, found.bits),
        view.gain_of(*step, narrow->gain(), narrow->because()));
    finding.place.step = step->step;
    name_place(*step, access_code(*step, false), narrow_accesses("global", false), finding);
    finding.evidence.push_back(evidence("global loads", found.count, "instructions", "sass"));
    finding.evidence.push_back(evidence("mean width", found.bits, "bits", "sass"));
    if (narrow->flight.needed > 0) {
      finding.evidence.push_back(evidence("in flight", narrow->flight.bytes, "B an SM", "plan"));
      finding.evidence.push_back(evidence("to hide memory's latency", narrow->flight.needed, "B an SM", "plan"));
    }
    if (view.kernel.knobs.contains("vector"))
      finding.actions.push_back(change_knobs(view, {{"vector", "4"}}, "four elements a thread"));
    finding.actions.push_back(advice("vectors of 16 bytes: contiguous elements a thread, aligned rows"));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_narrow_loads;
const Tool solstice_tools_narrow_loads{
    .name = "narrow loads",
    .question = "Do loads of global memory move few bytes each?",
    .sources = {"sass"},
    .classes = {Class::kDram, Class::kL2, Class::kLatency, Class::kIssue},
    .thresholds = {{"bits", 32, "bits a thread",
                    "16-byte accesses reach the copy rate with the fewest instructions in flight (docs/families.md)"},
                   {"gain", 1.05, "x", "a finding of medium severity"}},
    .paper = "KernelPro: vectorisation",
    .of_kernel = find_narrow_loads,
    .shows_as = stalls_of_narrow_accesses(),
};

}  // namespace solstice::diagnose
