// A kernel at the bound of its equations: nothing that computes the same is much faster.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_ceiling(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const std::optional<double> over = view.over_bound();
  if (!view.kernel.measured || !over || *over > tool.threshold("over bound")) return;
  Finding finding =
      finding_on(tool, view, fmt::format("it is at {:.2f}x of the bound of its equations: look elsewhere", *over),
                 view.gain_to_bound(""));
  finding.severity = FindingSeverity::kNote;
  finding.evidence.push_back(evidence("time", view.time().value * 1e6, "us", "trace"));
  finding.evidence.push_back(evidence("bound", view.kernel.bound->value * 1e6, "us", "plan"));
  finding.confidence = Confidence::kHigh;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_at_the_ceiling;
const Tool solstice_tools_at_the_ceiling{
    .name = "at the ceiling",
    .question = "Is it as fast as its equations allow?",
    .sources = {"trace", "plan"},
    .classes = {},
    .thresholds = {{"over bound", 1.1, "x", "measured ceilings differ by some percent between cards"}},
    .of_kernel = find_ceiling,
};

}  // namespace solstice::diagnose
