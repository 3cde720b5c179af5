// A tensor that one kernel writes and another reads again: a kernel of both would save its bytes.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct Passed {
  std::string tensor;
  const KernelSheet* writer = nullptr;
  std::vector<const KernelSheet*> readers;
  double bytes = 0;
};

std::vector<Passed> passed_tensors(const Facts& facts) {
  std::vector<Passed> out;
  for (const KernelSheet& writer : facts.kernels) {
    for (const TensorFacts& made : writer.tensors) {
      if (!made.written || made.kind != "intermediate" || writer.once) continue;
      Passed passed{made.name, &writer, {}, made.bytes.value};
      for (const KernelSheet& reader : facts.kernels) {
        const bool reads = std::any_of(reader.tensors.begin(), reader.tensors.end(),
                                       [&](const TensorFacts& t) { return !t.written && t.name == made.name; });
        if (reads && &reader != &writer) passed.readers.push_back(&reader);
      }
      if (!passed.readers.empty()) out.push_back(std::move(passed));
    }
  }
  return out;
}

void find_traffic(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  for (const Passed& passed : passed_tensors(view.facts)) {
    const bool in_l2 = passed.bytes < view.machine.l2.value / 2;
    const double moved = passed.bytes * static_cast<double>(1 + passed.readers.size());
    const double rate = in_l2 ? view.machine.l2_ceiling().per_second : view.machine.copy_ceiling().per_second;
    const Seconds saved(moved / rate);
    const double share = view.time().value > 0 ? saved / view.time() : 0;
    if (share < tool.threshold("share")) continue;
    const double most = 1 / (1 - std::min(share, 0.9));
    const double capped = view.facts.bounds.practical ? std::min(most, view.over_bound()) : most;
    Finding finding = finding_on(
        tool,
        fmt::format("`{}` is written by `{}` and read again by `{}`{}: {:.0f} % of the time at the rate of {}",
                    passed.tensor, passed.writer->kernel, passed.readers[0]->kernel,
                    passed.readers.size() > 1 ? fmt::format(" and {} more", passed.readers.size() - 1) : "",
                    100 * share, in_l2 ? "L2" : "DRAM"),
        {capped, 1, "without the bytes of this tensor"});
    finding.place.kernel = passed.writer->kernel;
    finding.evidence.push_back(evidence("bytes moved", moved, "B", "plan"));
    finding.evidence.push_back(evidence("time of them", saved.value * 1e6, "us", "plan"));
    finding.actions.push_back(
        {ActionKind::kCut,
         fmt::format("one kernel of `{}` and `{}`", passed.writer->kernel, passed.readers[0]->kernel),
         passed.writer->kernel,
         {},
         "",
         passed.readers[0]->kernel});
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
};

}  // namespace solstice::diagnose
