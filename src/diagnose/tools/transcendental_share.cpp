// Transcendental functions beyond those that the equations ask for.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double asked_for(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource == "sfu") return need.amount;
  }
  return 0;
}

void find_functions(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code) continue;
    const double functions = count_of(*code, "mufu"), all = static_cast<double>(code->instructions);
    // The pipe takes a warp's instruction every eight cycles of a scheduler that issues one a cycle.
    const double busy = all > 0 ? functions * tool.threshold("cycles") / all : 0;
    if (busy < 1 || asked_for(view.kernel) > 0) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format(
            "the hot code of `{}` has {:.0f} special functions in {:.0f} instructions, and its equations ask for none",
            step->entry, functions, all),
        view.gain_of(*step, busy, "if the pipe of special functions were not waited for"));
    finding.place.step = step->step;
    name_place(*step, code, of_kind("mufu"), finding);
    finding.evidence.push_back(evidence("special functions", functions, "", "sass"));
    finding.actions.push_back(advice("compute reciprocals and roots once a row, not once an element"));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_transcendental_share;
const Tool solstice_tools_transcendental_share{
    .name = "special functions",
    .question = "Does it use special functions that nobody asked for?",
    .sources = {"sass"},
    .classes = {Class::kSimt, Class::kSfu, Class::kIssue, Class::kDram, Class::kLatency},
    .thresholds = {{"cycles", 8, "an instruction",
                    "CUDA C++ programming guide, throughput of arithmetic: 16 of 128 lanes"}},
    .of_kernel = find_functions,
};

}  // namespace solstice::diagnose
