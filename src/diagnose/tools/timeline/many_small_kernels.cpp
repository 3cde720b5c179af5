// Kernels so short that filling and draining the GPU is most of what they do.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

struct SmallKernels {
  std::vector<const KernelView*> kernels;
  Seconds time, bound;
};

SmallKernels small_kernels(const ProgramView& view, Seconds most) {
  SmallKernels out;
  for (const KernelView& kernel : view.kernels) {
    if (kernel.kernel.once || kernel.time().value <= 0 || kernel.time() > most) continue;
    out.kernels.push_back(&kernel);
    out.time += kernel.time();
    out.bound += std::min(longest_need(kernel.kernel), kernel.time());
  }
  return out;
}

// The first two of them of which one reads what the other writes.
std::optional<FindingAction> one_of_two(const SmallKernels& found) {
  for (const KernelView* writer : found.kernels) {
    for (const TensorFacts& made : writer->kernel.tensors) {
      for (const KernelView* reader : found.kernels) {
        const auto& tensors = reader->kernel.tensors;
        const bool reads = made.written && std::any_of(tensors.begin(), tensors.end(), [&](const TensorFacts& each) {
                             return !each.written && each.name == made.name;
                           });
        const std::string &one = writer->kernel.kernel, &other = reader->kernel.kernel;
        if (reads && one != other)
          return FindingAction{
              ActionKind::kCut, fmt::format("one kernel of `{}` and `{}`", one, other), one, {}, "", other};
      }
    }
  }
  return std::nullopt;
}

void find_small(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  const Seconds most = view.machine.launch_time() * tool.threshold("launches");
  const SmallKernels found = small_kernels(view, most);
  if (found.kernels.size() < 2 || view.time().value <= 0) return;
  const auto count = static_cast<double>(found.kernels.size());
  const double share = found.time / view.time();
  if (share < tool.threshold("share")) return;
  // One kernel fills and drains as well.
  const double gone = (found.time - found.bound) * ((count - 1) / count) / view.time();
  Finding finding = finding_on(tool,
                               fmt::format("{} of {} kernels take less than {:.1f} us each, together {:.0f} % of the "
                                           "time",
                                           found.kernels.size(), view.kernels.size(), most.value * 1e6, 100 * share),
                               {gain_without(gone), 1, "if one kernel filled and drained the GPU for all of them"});
  finding.evidence.push_back(evidence("small kernels", count, "", "plan"));
  finding.evidence.push_back(evidence("time of them", found.time.value * 1e6, "us", "plan"));
  finding.evidence.push_back(evidence("bounds of their equations", found.bound.value * 1e6, "us", "plan"));
  if (auto cut = one_of_two(found)) finding.actions.push_back(std::move(*cut));
  finding.actions.push_back(advice("fewer kernels: fuse what lies next to each other"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_many_small_kernels;
const Tool solstice_tools_many_small_kernels{
    .name = "many small kernels",
    .question = "Do many kernels only fill and drain the GPU?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"launches", 5, "x of a launch",
                    "a launch, and as long again for the first loads, the last stores and the blocks' start"},
                   {"share", 0.2, "share of the time", "as for launches: KernelPro, table 2"}},
    .of_program = find_small,
};

}  // namespace solstice::diagnose
