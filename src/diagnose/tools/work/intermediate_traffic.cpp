// Tensors that one kernel writes and others read: another cut would keep them on the chip, and what both kernels read
// would be read once.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Passed {
  std::string tensor;
  const KernelSheet* writer = nullptr;
  std::vector<const KernelSheet*> readers;
  double bytes = 0;         // of the tensor
  double shared_bytes = 0;  // of tensors that the readers read and the writer has read already
  double moved() const { return bytes * static_cast<double>(1 + readers.size()) + shared_bytes; }
};

bool reads(const KernelSheet& kernel, const std::string& tensor) {
  return std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                     [&](const TensorFacts& each) { return !each.written && each.name == tensor; });
}

double bytes_read_by_both(const KernelSheet& writer, const KernelSheet& reader) {
  double out = 0;
  for (const TensorFacts& each : reader.tensors) {
    if (!each.written && reads(writer, each.name)) out += each.bytes.value;
  }
  return out;
}

std::vector<Passed> passed_tensors(const Facts& facts) {
  std::vector<Passed> out;
  for (const KernelSheet& writer : facts.kernels) {
    for (const TensorFacts& made : writer.tensors) {
      if (!made.written || made.kind != "intermediate" || writer.once) continue;
      Passed passed{made.name, &writer, {}, made.bytes.value};
      for (const KernelSheet& reader : facts.kernels) {
        if (&reader == &writer || !reads(reader, made.name)) continue;
        passed.readers.push_back(&reader);
        passed.shared_bytes += bytes_read_by_both(writer, reader);
      }
      if (!passed.readers.empty()) out.push_back(std::move(passed));
    }
  }
  return out;
}

FindingAction one_kernel(const Passed& passed) {
  const std::string &writer = passed.writer->kernel, &reader = passed.readers[0]->kernel;
  return {ActionKind::kCut, fmt::format("one kernel of `{}` and `{}`", writer, reader), writer, {}, "", reader};
}

std::string more_readers(const Passed& passed) {
  return passed.readers.size() > 1 ? fmt::format(" and {} more", passed.readers.size() - 1) : "";
}

void find_traffic(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  if (view.time().value <= 0) return;
  for (const Passed& passed : passed_tensors(view.facts)) {
    const bool in_l2 = passed.bytes < view.machine.l2.value / 2;
    const double rate = in_l2 ? view.machine.l2_ceiling().per_second : view.machine.copy_ceiling().per_second;
    const Seconds saved(passed.moved() / rate);
    const double share = saved / view.time();
    if (share < tool.threshold("share")) continue;
    const Seconds launches = view.machine.launch_time() * static_cast<double>(passed.readers.size());
    const double gone = std::min((saved + launches) / view.time(), 0.9);
    Finding finding =
        finding_on(tool,
                   fmt::format("`{}` is written by `{}` and read again by `{}`{}: {:.0f} % of the time at the rate of "
                               "{}, with what both read",
                               passed.tensor, passed.writer->kernel, passed.readers[0]->kernel, more_readers(passed),
                               100 * share, in_l2 ? "L2" : "DRAM"),
                   {1 / (1 - gone), 1, "without these bytes and launches"});
    finding.place.kernel = passed.writer->kernel;
    finding.evidence.push_back(evidence("bytes moved", passed.moved(), "B", "plan"));
    finding.evidence.push_back(evidence("of them read by both kernels", passed.shared_bytes, "B", "plan"));
    finding.evidence.push_back(evidence("time of them", saved.value * 1e6, "us", "plan"));
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
