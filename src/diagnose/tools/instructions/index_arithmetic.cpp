// Index arithmetic in the hot code, next to the work itself.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_addresses(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const SassMix* code = hot_code(*step);
    if (!code || count_of(*code, "wgmma") > 0) continue;
    const double integer = count_of(*code, "int") + count_of(*code, "address"),
                 all = static_cast<double>(code->instructions);
    const bool short_code = all < tool.threshold("instructions");
    if (short_code || integer / all < tool.threshold("share")) continue;
    Finding finding = finding_on(
        tool, view, fmt::format("{:.0f} % of the hot code of `{}` computes indices", 100 * integer / all, step->entry),
        view.gain_of(*step, 1 / (1 - integer / all), "without any of it"));
    finding.place.step = step->step;
    name_place(*step, code, of_kind("address"), finding);
    finding.evidence.push_back(evidence("integer instructions", integer, "", "sass"));
    finding.evidence.push_back(evidence("instructions of the hot code", all, "", "sass"));
    finding.actions.push_back(
        advice("step pointers instead of computing them; divisions by constants; wider accesses"));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_index_arithmetic;
const Tool solstice_tools_index_arithmetic{
    .name = "index arithmetic",
    .question = "Does it mostly compute indices?",
    .sources = {"sass"},
    .classes = {},
    .thresholds = {{"share", 0.5, "share of its hot code", "more than the work itself"},
                   {"instructions", 24, "count", "chosen: shorter code is setup"}},
    .of_kernel = find_addresses,
    .shows_as = stalls_of_instructions(),
};

}  // namespace solstice::diagnose
