// An intermediate that is just too large to stay in L2: in two halves it would.
#include <fmt/format.h>

#include "diagnose/passed_tensors.h"

namespace solstice::diagnose {
namespace {

void find_large(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  const double l2 = view.machine.l2.value;
  for (const PassedTensor& passed : passed_tensors(view)) {
    const double over = passed.tensor->bytes.value / l2;
    if (over < tool.threshold("from") || over > tool.threshold("to")) continue;
    const double bytes = passed.tensor->bytes.value * static_cast<double>(1 + passed.readers.size());
    const Seconds taken(bytes / view.machine.copy_ceiling().per_second - bytes / view.machine.l2_ceiling().per_second);
    if (view.time().value <= 0 || taken / view.time() < tool.threshold("share")) continue;
    Finding finding =
        finding_on(tool,
                   fmt::format("`{}` is {:.1f} times as large as L2 and goes through memory between its kernels",
                               passed.tensor->name, over),
                   gain_without_passing(view, passed, bytes, "if its bytes never left the chip"));
    finding.place.kernel = passed.writer->kernel.kernel;
    finding.evidence.push_back(evidence("tensor", passed.tensor->bytes.value, "B", "plan"));
    finding.evidence.push_back(evidence("L2", l2, "B", "plan"));
    finding.evidence.push_back(evidence("time of its bytes", taken.value * 1e6, "us", "plan"));
    finding.actions.push_back(advice("both kernels on a part of the rows after the other, or one kernel"));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_just_beyond_l2;
const Tool solstice_tools_just_beyond_l2{
    .name = "just beyond L2",
    .question = "Is a tensor between kernels just too large for L2?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"from", 0.5, "x of L2", "half of L2 holds what the next kernel reads (docs/sol.md)"},
                   {"to", 4, "x of L2", "chosen: larger ones would need many parts"},
                   {"share", 0.02, "share of the program's time", "below it nothing is won"}},
    .of_program = find_large,
};

}  // namespace solstice::diagnose
