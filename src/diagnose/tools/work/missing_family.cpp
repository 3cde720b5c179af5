// Work that a kernel does on a general family although the machine has units for it.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_missing(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  if (view.kernel.missing.empty()) return;
  Finding finding = finding_on(
      tool, view, fmt::format("{} runs as `{}`, which has no part for it", view.kernel.missing, view.kernel.family),
      view.gain_to_bound(""));
  finding.evidence.push_back(evidence("share of the program's time", 100 * view.share, "%", "plan"));
  finding.actions.push_back(advice("device code of your own (`by cuda`), or leave it to PyTorch"));
  finding.confidence = Confidence::kHigh;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_missing_family;
const Tool solstice_tools_missing_family{
    .name = "missing family",
    .question = "Is there no kernel family for what it computes?",
    .sources = {"plan"},
    .classes = {},
    .of_kernel = find_missing,
};

}  // namespace solstice::diagnose
