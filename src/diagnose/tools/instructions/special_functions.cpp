// Transcendental functions beyond those that the equations ask for.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipe_cycles.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double asked_for(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource == "sfu") return need.amount;
  }
  return 0;
}

double roots_of(const SassMix& code) {
  double out = 0;
  for (const auto& [kind, count] : code.calls) out += kind.starts_with("sqrt") ? static_cast<double>(count) : 0;
  return out;
}

double gain_without_functions(const Tool& tool, const KernelView& view, const SassMix& code) {
  const PipeCycles before = cycles_of(code, view.machine);
  PipeCycles after = before;
  const double functions = count_of(code, "mufu");
  after.issue = std::max(1.0, before.issue - functions - roots_of(code) * tool.threshold("instructions"));
  for (const char* pipe : {"alu", "fma", "cbu"}) after.pipes[pipe] *= after.issue / before.issue;
  after.pipes["xu"] -= functions * cycles_of_pipe("xu", view.machine);
  return most_gain(before, after);
}

void find_functions(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code) continue;
    const double functions = count_of(*code, "mufu"), all = static_cast<double>(code->instructions);
    if (functions < 1 || asked_for(view.kernel) > 0) continue;
    const double gain = gain_without_functions(tool, view, *code);
    if (gain < tool.threshold("gain")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format(
            "the hot code of `{}` has {:.0f} special functions in {:.0f} instructions, and its equations ask for none",
            step->entry, functions, all),
        view.gain_of(*step, gain, "without them, and what makes roots exact"));
    finding.place.step = step->step;
    name_place(*step, code, of_kind("mufu"), finding);
    finding.evidence.push_back(evidence("special functions", functions, "", "sass"));
    finding.evidence.push_back(evidence("exact roots", roots_of(*code), "", "sass"));
    finding.actions.push_back(advice("compute reciprocals and roots once a row, not once an element"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_special_functions;
const Tool solstice_tools_special_functions{
    .name = "special functions",
    .question = "Does it use special functions that nobody asked for?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"gain", 1.25, "x",
                    "of issue slots and the pipe of special functions: the few of a row cost nothing"},
                   {"instructions", 8, "a root", "of an exact root of fp32 that run, as ptxas 13.0 writes it"}},
    .of_kernel = find_functions,
    .shows_as = stalls_of_instructions(),
};

}  // namespace solstice::diagnose
