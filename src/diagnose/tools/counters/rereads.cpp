// Bytes that a kernel moves beyond those that its equations need: tensors are read again because nothing keeps them.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double needed(const KernelSheet& kernel, std::string_view resource) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource == resource) return need.amount;
  }
  return 0;
}

double sum_of(const KernelView& view, std::initializer_list<const char*> metrics) {
  double out = 0;
  for (const StepFacts* step : view.steps()) {
    for (const char* metric : metrics) out += counter(*step, metric).value_or(0);
  }
  return out;
}

void find_rereads(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const double need = needed(view.kernel, "dram");
  const double moved = sum_of(view, {"dram__bytes_read.sum", "dram__bytes_write.sum"});
  if (need <= 0 || moved < tool.threshold("bytes") * need || need < view.machine.l2.value) return;
  Finding finding = finding_on(
      tool, view,
      fmt::format("it moves {:.2f} times the bytes that its equations need through memory: they do not stay in L2",
                  moved / need),
      view.gain(moved / need, "if each byte were moved once"));
  finding.evidence.push_back(evidence("moved", moved, "B", "counters"));
  finding.evidence.push_back(evidence("needed", need, "B", "plan"));
  finding.actions.push_back(advice("blocks that share data at the same time; a larger tile; split passes fused"));
  finding.confidence = Confidence::kHigh;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_rereads;
const Tool solstice_tools_rereads{
    .name = "reads again",
    .question = "Does it move bytes through memory more than once?",
    .sources = {"counters", "plan"},
    .classes = {Class::kDram, Class::kL2},
    .thresholds = {{"bytes", 1.25, "x of the need", "a split pass or a second read moves at least that"}},
    .paper = "KernelPro: shared-memory tiling",
    .of_kernel = find_rereads,
};

}  // namespace solstice::diagnose
