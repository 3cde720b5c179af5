// Tensors that one kernel writes and others read: another cut would keep them on the chip, and what both kernels read
// would be read once.
#include <fmt/format.h>

#include "diagnose/passed_tensors.h"

namespace solstice::diagnose {
namespace {

FindingAction one_kernel(const PassedTensor& passed) {
  const std::string &writer = passed.writer->kernel.kernel, &reader = passed.readers[0]->kernel.kernel;
  return {ActionKind::kCut, fmt::format("one kernel of `{}` and `{}`", writer, reader), writer, {}, "", reader};
}

std::string more_readers(const PassedTensor& passed) {
  return passed.readers.size() > 1 ? fmt::format(" and {} more", passed.readers.size() - 1) : "";
}

void find_traffic(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  if (view.time().value <= 0) return;
  for (const PassedTensor& passed : passed_tensors(view)) {
    const bool in_l2 = passed.tensor->bytes.value < view.machine.l2.value / 2;
    const double rate = in_l2 ? view.machine.l2_ceiling().per_second : view.machine.copy_ceiling().per_second;
    const Seconds taken(passed.moved() / rate);
    const double share = taken / view.time();
    if (share < tool.threshold("share")) continue;
    const std::string &writer = passed.writer->kernel.kernel, &reader = passed.readers[0]->kernel.kernel;
    Finding finding = finding_on(
        tool,
        fmt::format("`{}` is written by `{}` and read again by `{}`{}: {:.0f} % of the time at the rate of {}, with "
                    "what both read",
                    passed.tensor->name, writer, reader, more_readers(passed), 100 * share, in_l2 ? "L2" : "DRAM"),
        gain_without_passing(view, passed, passed.moved(),
                             "if one kernel took what the rest of their work takes by its bounds"));
    finding.place.kernel = writer;
    finding.evidence.push_back(evidence("bytes moved", passed.moved(), "B", "plan"));
    finding.evidence.push_back(evidence("of them read by both kernels", passed.bytes_read_by_both, "B", "plan"));
    finding.evidence.push_back(evidence("time of them", taken.value * 1e6, "us", "plan"));
    finding.actions.push_back(one_kernel(passed));
    finding.confidence = Confidence::kLow;
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_intermediate_traffic;
const Tool solstice_tools_intermediate_traffic{
    .name = "intermediate traffic",
    .question = "Would another cut keep a tensor out of memory?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"share", 0.02, "share of the program's time", "below it nothing is won"}},
    .of_program = find_traffic,
    .explains = {"just beyond L2"},
};

}  // namespace solstice::diagnose
