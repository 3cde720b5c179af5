// Divisions and roots that the compiler does in many instructions, with a slow path for odd operands.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipe_cycles.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Divisions {
  double count = 0;
  double slow_path = 0;  // instructions of it, in and around calls: they do not run as a rule
  std::string kinds;
  bool wide = false;  // of fp64, whose instructions nobody counted
};

bool asks_for_functions(const KernelSheet& kernel) {
  return std::any_of(kernel.needs.begin(), kernel.needs.end(),
                     [](const ResourceNeed& need) { return need.resource == "sfu" && need.amount > 0; });
}

Divisions divisions_of(const Tool& tool, const KernelView& view, const StepFacts& step, const SassMix& code) {
  Divisions out;
  for (const auto& [kind, count] : code.calls) {
    // Those of integers, and roots that nobody asked for, are other tools'.
    if (!kind.ends_with("f32") && !kind.ends_with("f64")) continue;
    if (kind.starts_with("sqrt") && !asks_for_functions(view.kernel)) continue;
    out.count += static_cast<double>(count);
    out.wide = out.wide || kind.ends_with("f64");
    out.kinds += (out.kinds.empty() ? "" : ", ") + kind;
  }
  out.slow_path = out.count * tool.threshold("around a call");
  if (&code != &step.sass->mix) return out;  // a loop's counts have no routines
  for (const SassRoutine& routine : step.sass->routines) out.slow_path += static_cast<double>(routine.instructions);
  return out;
}

// By issue, and by the pipe of special functions, which serves the reciprocal and the check of the operands (FCHK).
double gain_without_them(const Tool& tool, const KernelView& view, const SassMix& code, const Divisions& found) {
  const double check = cycles_of_pipe("xu", view.machine) * found.count;
  PipeCycles before = cycles_of(code, view.machine);
  before.issue = std::max(1.0, before.issue - found.slow_path);
  PipeCycles after = before;
  before.pipes["xu"] += check;
  after.issue = std::max(1.0, before.issue - found.count * tool.threshold("instructions"));
  for (const char* pipe : {"alu", "fma", "cbu"}) after.pipes[pipe] *= after.issue / before.issue;
  return most_gain(before, after);
}

void find_divisions(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code) continue;
    const Divisions found = divisions_of(tool, view, *step, *code);
    const double all = static_cast<double>(code->instructions);
    if (found.count < 1 || found.count * tool.threshold("instructions") / all < tool.threshold("share")) continue;
    Finding finding =
        finding_on(tool, view, fmt::format("`{}` divides the exact way in its hot code: {}", step->entry, found.kinds),
                   found.wide ? view.gain_to_bound(*step, "without these divisions")
                              : view.gain_of(*step, gain_without_them(tool, view, *code, found),
                                             "without the instructions and the checks of these divisions"));
    finding.place.step = step->step;
    name_place(*step, code, slow_paths(), finding);
    finding.evidence.push_back(evidence("divisions with a slow path", found.count, "", "sass"));
    finding.evidence.push_back(evidence("instructions of the hot code", all, "", "sass"));
    finding.actions.push_back(advice("multiply by a reciprocal that is computed once"));
    if (found.wide) finding.confidence = confidence_of_guess(*step);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_slow_division;
const Tool solstice_tools_slow_division{
    .name = "slow division",
    .question = "Does it divide the exact way in its hot code?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"share", 0.05, "share of its instructions", "below it nothing is won"},
                   {"instructions", 8, "a division",
                    "of an IEEE division of fp32 that run, beyond a product with a reciprocal: 11 against 3, as ptxas "
                    "13.0 writes them"},
                   {"around a call", 3, "instructions", "that lead to the slow path, as ptxas 13.0 writes them"}},
    .of_kernel = find_divisions,
    .shows_as = stalls_of_instructions(),
};

}  // namespace solstice::diagnose
