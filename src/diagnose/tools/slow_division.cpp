// Divisions and roots that the compiler does in many instructions, with a slow path for odd operands.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_divisions(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code) continue;
    double calls = 0;
    std::string kinds;
    for (const auto& [kind, count] : code->calls) {
      if (kind == "function") continue;
      calls += static_cast<double>(count);
      kinds += (kinds.empty() ? "" : ", ") + kind;
    }
    const double all = static_cast<double>(code->instructions);
    // An IEEE division takes about ten instructions where a product with a reciprocal takes two.
    const double share = std::min(0.9, calls * tool.threshold("instructions") / std::max(all, 1.0));
    if (calls < 1 || share < tool.threshold("share")) continue;
    Finding finding =
        finding_on(tool, view, fmt::format("`{}` divides the exact way in its hot code: {}", step->entry, kinds),
                   view.gain_of(*step, 1 / (1 - share), "without the instructions of these divisions"));
    finding.place.step = step->step;
    name_place(*step, code, slow_paths(), finding);
    finding.evidence.push_back(evidence("divisions with a slow path", calls, "", "sass"));
    finding.evidence.push_back(evidence("instructions of the hot code", all, "", "sass"));
    finding.actions.push_back(advice("multiply by a reciprocal that is computed once"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_slow_division;
const Tool solstice_tools_slow_division{
    .name = "slow division",
    .question = "Does it divide the exact way in its hot code?",
    .sources = {"sass"},
    .classes = {Class::kSimt, Class::kSfu, Class::kIssue, Class::kDram, Class::kLatency},
    .thresholds = {{"share", 0.05, "share of its instructions", "below it nothing is won"},
                   {"instructions", 8, "a division",
                    "of an IEEE division of fp32 beyond a product, as ptxas 13.0 writes it"}},
    .of_kernel = find_divisions,
};

}  // namespace solstice::diagnose
