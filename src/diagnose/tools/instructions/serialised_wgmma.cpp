// ptxas serialises wgmma where registers of a product are touched while it is in flight (its notes C7510 to C7518).
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_serialised(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    for (const std::string& note : step->notes) {
      if (note.find("wgmma") == std::string::npos || note.find("serialized") == std::string::npos) continue;
      Finding finding = finding_on(tool, view, fmt::format("ptxas serialises the wgmma of `{}`", step->entry),
                                   view.gain_to_bound(*step, "if they overlapped"));
      finding.place.step = step->step;
      finding.place.part = "main loop";
      if (step->sass) name_place(*step, &step->sass->mix, of_kind("wgmma"), finding);
      finding.evidence.push_back(evidence("notes of ptxas", static_cast<double>(step->notes.size()), "", "ptxas"));
      finding.actions.push_back(
          advice("keep accumulators untouched between `wgmma.commit_group` and `wait_group`, and out of functions"));
      finding.confidence = Confidence::kMedium;  // that it is so is certain, what it costs is not
      out.push_back(std::move(finding));
      break;
    }
  }
}

}  // namespace

extern const Tool solstice_tools_serialised_wgmma;
const Tool solstice_tools_serialised_wgmma{
    .name = "serialised wgmma",
    .question = "Does the compiler serialise products on tensor cores?",
    .sources = {"ptxas"},
    .classes = {},
    .of_kernel = find_serialised,
    .explains = {"tensor cores fed slowly", "drained wgmma"},
};

}  // namespace solstice::diagnose
