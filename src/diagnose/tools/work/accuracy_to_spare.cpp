// An error far inside the policy's limit: a cheaper arithmetic may be legal.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Cheaper {
  const char* math;
  const char* next;
  double gain;  // products of the one over products of the other
};
constexpr Cheaper kCheaper[] = {{"fp16x3", "tf32x3", 1.0},
                                {"bf16x6", "fp16x3", 2.0},
                                {"bf16x6", "bf16x3", 2.0},
                                {"tf32x3", "fp16x3", 2.0},
                                {"simt", "fp16x3", 5.0}};

void find_spare(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  if (!view.facts.error || *view.facts.error <= 0 || *view.facts.error > tool.threshold("error")) return;
  for (const KernelView& kernel : view.kernels) {
    for (const Cheaper& each : kCheaper) {
      if (kernel.kernel.math != each.math || each.gain <= 1) continue;
      Finding finding =
          finding_on(tool, kernel,
                     fmt::format("the error is {:.0f} % of what the policy allows: `{}` may do where `{}` is",
                                 100 * *view.facts.error, each.next, each.math),
                     kernel.gain(each.gain, "by the number of products"));
      finding.evidence.push_back(evidence("error over the limit", *view.facts.error, "x", "trace"));
      finding.actions.push_back(
          {ActionKind::kMath, "cheaper products", kernel.kernel.kernel, {{"math", each.next}}, ""});
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Tool solstice_tools_accuracy_to_spare;
const Tool solstice_tools_accuracy_to_spare{
    .name = "accuracy to spare",
    .question = "Would a cheaper arithmetic be accurate enough?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"error", 0.1, "of the limit", "the next math loses three bits at most (docs/numerics.md)"}},
    .of_program = find_spare,
};

}  // namespace solstice::diagnose
