// Atomic operations of many threads on few results, which take their turns.
#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double results_of(const KernelSheet& kernel) {
  double out = 0;
  for (const TensorFacts& tensor : kernel.tensors) {
    const auto dtype = dtype_from_name(tensor.dtype);
    if (tensor.written && dtype) out += tensor.bytes.value / static_cast<double>(size_of(*dtype));
  }
  return out;
}

double threads_of(const StepFacts& step) {
  double out = 1;
  for (const auto& extents : {step.grid, step.block}) {
    for (const int64_t extent : extents) out *= static_cast<double>(extent);
  }
  return out;
}

void find_contended(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const double results = results_of(view.kernel);
  if (results <= 0 || view.steps().size() != 1) return;
  for (const StepFacts* step : view.steps()) {
    const double atomics = step->sass ? count_of(step->sass->mix, "atomic") : 0;
    const double each = atomics * threads_of(*step) / results;
    if (each < tool.threshold("threads a result")) continue;
    Finding finding = finding_on(
        tool, view,
        fmt::format("up to {:.0f} threads of `{}` add to each result by atomic operations", each, step->entry),
        view.kernel.measured ? view.gain_to_bound(*step, "if nothing waited for its turn")
                             : open_bound("no cost model knows how long threads wait for their turn"));
    finding.place.step = step->step;
    if (step->sass) name_place(*step, &step->sass->mix, of_kind("atomic"), finding);
    finding.evidence.push_back(evidence("atomic instructions", atomics, "", "sass"));
    finding.evidence.push_back(evidence("threads", threads_of(*step), "", "plan"));
    finding.evidence.push_back(evidence("results", results, "", "plan"));
    finding.actions.push_back(advice("add up in a warp and a block first; a second pass over partial results"));
    finding.confidence = Confidence::kLow;  // one thread of a block may be all that does
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_contended_atomics;
const Tool solstice_tools_contended_atomics{
    .name = "contended atomics",
    .question = "Do many threads add to few results?",
    .sources = {"sass", "plan"},
    .classes = {},
    .thresholds = {{"threads a result", 32, "count", "a warp, which shuffles add up without memory"}},
    .of_kernel = find_contended,
    .shows_as = stalls_of_atomics(),
};

}  // namespace solstice::diagnose
