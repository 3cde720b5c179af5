// An intermediate that is just too large to stay in L2: in two halves it would.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_large(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  const double l2 = view.machine.l2.value;
  for (const KernelSheet& kernel : view.facts.kernels) {
    for (const TensorFacts& tensor : kernel.tensors) {
      const double over = tensor.bytes.value / l2;
      if (!tensor.written || tensor.kind != "intermediate" || kernel.once) continue;
      if (over < tool.threshold("from") || over > tool.threshold("to")) continue;
      const Seconds saved(2 * tensor.bytes.value / view.machine.copy_ceiling().per_second -
                          2 * tensor.bytes.value / view.machine.l2_ceiling().per_second);
      const double share = view.time().value > 0 ? std::clamp(saved / view.time(), 0.0, 0.9) : 0;
      if (share < tool.threshold("share")) continue;
      Finding finding =
          finding_on(tool,
                     fmt::format("`{}` is {:.1f} times as large as L2 and goes through memory between its kernels",
                                 tensor.name, over),
                     {1 / (1 - share), 1, "if its bytes were read from L2"});
      finding.place.kernel = kernel.kernel;
      finding.evidence.push_back(evidence("tensor", tensor.bytes.value, "B", "plan"));
      finding.evidence.push_back(evidence("L2", l2, "B", "plan"));
      finding.actions.push_back(advice("both kernels on a part of the rows after the other, or one kernel"));
      finding.confidence = Confidence::kLow;
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Tool solstice_tools_beyond_l2;
const Tool solstice_tools_beyond_l2{
    .name = "just beyond L2",
    .question = "Is a tensor between kernels just too large for L2?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"from", 0.5, "x of L2", "half of L2 holds what the next kernel reads (docs/sol.md)"},
                   {"to", 4, "x of L2", "larger ones would need many parts"},
                   {"share", 0.02, "share of the program's time", "below it nothing is won"}},
    .of_program = find_large,
};

}  // namespace solstice::diagnose
