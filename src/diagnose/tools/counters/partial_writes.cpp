// Stores that fill a part of their sectors: L2 has to read the rest.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

double written(const KernelSheet& kernel) {
  double out = 0;
  for (const TensorFacts& tensor : kernel.tensors) out += tensor.written ? tensor.bytes.value : 0;
  return out;
}

void find_partial(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  double sectors = 0;
  for (const StepFacts* step : view.steps()) sectors += counter(*step, "lts__t_sectors_op_write.sum").value_or(0);
  const double need = written(view.kernel) / view.machine.sector.value;
  if (need <= 0 || view.steps().size() > 1 || sectors < tool.threshold("sectors") * need) return;
  Finding finding =
      finding_on(tool, view, fmt::format("it writes {:.2f} times the sectors that its results fill", sectors / need),
                 view.gain(sectors / need, "if each sector were written once and whole"));
  finding.evidence.push_back(evidence("sectors written", sectors, "", "counters"));
  finding.evidence.push_back(evidence("sectors of its results", need, "", "plan"));
  finding.actions.push_back(advice("stores of whole rows by neighbouring threads, through shared memory if need be"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_partial_writes;
const Tool solstice_tools_partial_writes{
    .name = "partial writes",
    .question = "Does it write sectors in parts?",
    .sources = {"counters", "plan"},
    .classes = {Class::kDram, Class::kL2, Class::kLatency, Class::kIssue},
    .thresholds = {{"sectors", 2, "x of the results",
                    "whole sectors count 1.5 times on an H200, whose L2 has two partitions (tests/sick)"}},
    .of_kernel = find_partial,
};

}  // namespace solstice::diagnose
