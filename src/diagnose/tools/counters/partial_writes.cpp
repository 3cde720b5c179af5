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

struct SectorsOfWrites {
  double written = 0, all = 0;
  double times_whole = 1;  // that a whole sector counts
};

// Plain stores as they leave L1; where there are none, all writes that L2 sees, whole ones of which count more than
// once. Nothing where one was not counted.
std::optional<SectorsOfWrites> sectors_of(const Tool& tool, const StepFacts& step) {
  const auto all = counter(step, "lts__t_sectors.sum");
  const auto plain = counter(step, "l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum");
  if (all && plain && *plain > 0) return SectorsOfWrites{*plain, *all};
  const auto in_l2 = counter(step, "lts__t_sectors_op_write.sum");
  if (!all || !in_l2) return std::nullopt;
  return SectorsOfWrites{*in_l2, *all, tool.threshold("whole in L2")};
}

void find_partial(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const std::vector<const StepFacts*> steps = view.steps();
  if (steps.size() != 1) return;
  const std::optional<SectorsOfWrites> counted = sectors_of(tool, *steps[0]);
  if (!counted) return;
  const SectorsOfWrites& sectors = *counted;
  const double need = written(view.kernel) / view.machine.sector.value * sectors.times_whole;
  const double excess = sectors.written - need;
  if (need <= 0 || sectors.all <= 0 || sectors.written < tool.threshold("sectors") * need) return;
  // L2 reads what a partial sector lacks: each costs twice.
  const double share = std::min(0.95, 2 * excess / (sectors.all + excess));
  if (share < tool.threshold("share")) return;
  Finding finding = finding_on(
      tool, view, fmt::format("it writes {:.2f} times the sectors that its results fill", sectors.written / need),
      view.gain(1 / (1 - share), "without the sectors of L2 that partial writes take, and their reads"));
  finding.evidence.push_back(evidence("sectors written", sectors.written, "", "counters"));
  finding.evidence.push_back(evidence("sectors of its results", need, "", "plan"));
  finding.evidence.push_back(evidence("of what L2 serves", 100 * share, "%", "counters"));
  finding.actions.push_back(advice("stores of whole rows by neighbouring threads, through shared memory if need be"));
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_partial_writes;
const Tool solstice_tools_partial_writes{
    .name = "partial writes",
    .question = "Does it write sectors in parts?",
    .sources = {"counters", "plan"},
    .classes = {},
    .thresholds = {{"sectors", 1.25, "x of the results", "a store in five fills a part of its sector"},
                   {"share", 0.05, "share of all sectors", "below it nothing is won"},
                   {"whole in L2", 1.5, "x", "as an H200 counts them, whose L2 has two partitions (tests/sick)"}},
    .of_kernel = find_partial,
    .shows_as = stalls_of_requests(),
    .counters = {"lts__t_sectors.sum", "lts__t_sectors_op_write.sum"},
    .or_counters = {"l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum"},
};

}  // namespace solstice::diagnose
