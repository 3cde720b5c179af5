// A measured time far beyond the cost model's: one of its terms does not hold for this kernel.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_excess(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  if (!view.kernel.measured || !view.kernel.predicted || view.kernel.predicted->value <= 0) return;
  const double excess = *view.kernel.measured / *view.kernel.predicted;
  if (excess < tool.threshold("excess")) return;
  const auto longest = std::max_element(view.kernel.terms.begin(), view.kernel.terms.end(),
                                        [](const CostTerm& a, const CostTerm& b) { return a.time < b.time; });
  const std::string term =
      longest == view.kernel.terms.end() ? "" : fmt::format(", whose longest term is {}", longest->name);
  Finding finding =
      finding_on(tool, view, fmt::format("it takes {:.2f} times what its cost model says{}", excess, term),
                 view.gain_to_bound(""));
  finding.evidence.push_back(evidence("time", view.kernel.measured->value * 1e6, "us", "trace"));
  finding.evidence.push_back(evidence("predicted", view.kernel.predicted->value * 1e6, "us", "plan"));
  finding.actions.push_back(advice("another setting of its knobs; the model has not seen this shape"));
  finding.confidence = Confidence::kLow;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_beyond_its_model;
const Tool solstice_tools_beyond_its_model{
    .name = "beyond its model",
    .question = "Does it take longer than its cost model says?",
    .sources = {"trace", "plan"},
    .classes = {},
    .thresholds = {{"excess", 1.3, "x", "the models' own spread (`solstice list families --fit`)"}},
    .of_kernel = find_excess,
    .says = Says::kSymptom,
};

}  // namespace solstice::diagnose
