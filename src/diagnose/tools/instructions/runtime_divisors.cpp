// Integer divisions and remainders by divisors that are known at run time alone: each is a reciprocal in floating
// point, its correction, and for 64 bits a subroutine.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipe_cycles.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct RuntimeDivisions {
  double narrow = 0, wide = 0;  // of 32 and of 64 bits
  double all() const { return narrow + wide; }
};

RuntimeDivisions runtime_divisions(const SassMix& code) {
  RuntimeDivisions out;
  for (const auto& [kind, count] : code.calls) {
    if (kind.ends_with("64") && !kind.ends_with("f64")) out.wide += static_cast<double>(count);
  }
  // The reciprocal of an integer; the short way of a division of 64 bits has one too.
  const auto reciprocals = code.named.find("I2F.RP");
  const double all = reciprocals == code.named.end() ? 0 : static_cast<double>(reciprocals->second);
  out.narrow = std::max(0.0, all - out.wide);
  return out;
}

double gain_without_divisions(const Tool& tool, const KernelView& view, const SassMix& code,
                              const RuntimeDivisions& found) {
  const PipeCycles before = cycles_of(code, view.machine);
  PipeCycles after = before;
  after.issue -= found.narrow * tool.threshold("of 32 bits") + found.wide * tool.threshold("of 64 bits");
  after.issue = std::max(1.0, after.issue);
  for (const char* pipe : {"alu", "fma", "cbu"}) after.pipes[pipe] *= after.issue / before.issue;
  after.pipes["xu"] -= found.all() * tool.threshold("conversions") * cycles_of_pipe("xu", view.machine);
  return most_gain(before, after);
}

void find_runtime_divisors(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code) continue;
    const RuntimeDivisions found = runtime_divisions(*code);
    const double all = static_cast<double>(code->instructions);
    const double taken = found.narrow * tool.threshold("of 32 bits") + found.wide * tool.threshold("of 64 bits");
    if (found.all() < 1 || taken / all < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("the hot code of `{}` divides integers by {:.0f} divisors that are known at run time alone",
                    step->entry, found.all()),
        view.gain_of(*step, gain_without_divisions(tool, view, *code, found),
                     "without the instructions of these divisions"));
    finding.place.step = step->step;
    name_place(*step, code, of_opcode("I2F.RP"), finding);
    finding.evidence.push_back(evidence("divisions of 32 bits", found.narrow, "", "sass"));
    finding.evidence.push_back(evidence("divisions of 64 bits", found.wide, "", "sass"));
    finding.evidence.push_back(evidence("instructions of the hot code", all, "", "sass"));
    finding.actions.push_back(
        advice("indices that the grid and the loops have already; extents as constants; 32 bits instead of 64"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_runtime_divisors;
const Tool solstice_tools_runtime_divisors{
    .name = "runtime divisors",
    .question = "Does index arithmetic divide by extents that are known at run time alone?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"share", 0.05, "share of its instructions", "below it nothing is won"},
                   {"of 32 bits", 18, "instructions", "a division and its remainder, as ptxas 13.0 writes them"},
                   {"of 64 bits", 34, "instructions", "the same, up to the call of the subroutine"},
                   {"conversions", 3, "a division", "to floating point, its reciprocal, and back"}},
    .of_kernel = find_runtime_divisors,
    .shows_as = stalls_of_instructions(),
    .explains = {"index arithmetic"},
};

}  // namespace solstice::diagnose
