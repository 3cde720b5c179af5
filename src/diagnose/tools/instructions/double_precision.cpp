// fp64 arithmetic, at a small part of the rate of fp32 on most machines.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipe_cycles.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double conversions_of(const SassMix& code) {
  double out = 0;
  for (const char* name : {"F2F.F64.F32", "F2F.F32.F64"}) {
    const auto found = code.named.find(name);
    if (found != code.named.end()) out += static_cast<double>(found->second);
  }
  return out;
}

// With as many instructions of fp32 in its place, and without the conversions to fp64 and back.
double gain_of_single(const KernelView& view, const SassMix& code) {
  const PipeCycles before = cycles_of(code, view.machine);
  PipeCycles after = before;
  const double conversions = conversions_of(code);
  after.issue = std::max(1.0, after.issue - conversions);
  after.pipes["xu"] -= conversions * cycles_of_pipe("xu", view.machine);
  after.pipes["fp64"] = 0;
  after.pipes["fma"] += count_of(code, "fp64");
  return most_gain(before, after);
}

void find_double(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code) continue;
    const double wide = count_of(*code, "fp64"), all = static_cast<double>(code->instructions);
    const bool asked = std::any_of(view.kernel.tensors.begin(), view.kernel.tensors.end(),
                                   [](const TensorFacts& tensor) { return tensor.dtype == "f64"; });
    if (asked || wide < 1) continue;
    const double gain = gain_of_single(view, *code);
    if (gain < tool.threshold("gain")) continue;
    Finding finding = finding_on(tool, view,
                                 fmt::format("{:.0f} % of the hot code of `{}` is fp64 arithmetic, and no tensor is",
                                             100 * wide / all, step->entry),
                                 view.gain_of(*step, gain, "if fp32 took its place, without conversions"));
    finding.place.step = step->step;
    name_place(*step, code, of_kind("fp64"), finding);
    finding.evidence.push_back(evidence("fp64 instructions", wide, "", "sass"));
    finding.evidence.push_back(evidence("conversions", conversions_of(*code), "", "sass"));
    finding.actions.push_back(advice("constants and functions of fp32 (`1.0f`, `expf`)"));
    finding.confidence = Confidence::kHigh;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_double_precision;
const Tool solstice_tools_double_precision{
    .name = "double precision",
    .question = "Does it compute in fp64 though no tensor is?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"gain", 1.01, "x", "a finding of low severity, at the rates of the machine file"}},
    .of_kernel = find_double,
    .shows_as = stalls_of_instructions(),
};

}  // namespace solstice::diagnose
