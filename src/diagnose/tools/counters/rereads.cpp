// Bytes that a kernel moves beyond those that its equations need: tensors are read again because nothing keeps them.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

const ResourceNeed* memory_need(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource == "dram") return &need;
  }
  return nullptr;
}

// Of all launches; nothing where one of them was not counted. Memsets and copies are no launches.
std::optional<double> bytes_counted(const KernelView& view) {
  double out = 0;
  for (const StepFacts* step : view.steps()) {
    if (step->entry.empty()) continue;
    const auto read = counter(*step, "dram__bytes_read.sum"), written = counter(*step, "dram__bytes_write.sum");
    if (!read || !written) return std::nullopt;
    out += *read + *written;
  }
  return out;
}

struct Moved {
  double bytes = 0;
  std::string source;
};

// A family's word for a way that passes over its rows more than once (KernelSheet::form).
constexpr std::string_view kReadsAgain = "read again";

// Through memory: as counted, else as the cost model says of such a way, whose term of memory has every pass.
Moved moved_bytes(const KernelView& view, const ResourceNeed& need) {
  if (const auto counted = bytes_counted(view); counted && *counted > 0) return {*counted, "counters"};
  if (view.kernel.form.find(kReadsAgain) == std::string::npos) return {};
  for (const CostTerm& term : view.kernel.terms) {
    if (term.name == "memory" && need.time.value > 0) return {need.amount * (term.time / need.time), "plan"};
  }
  return {};
}

void find_rereads(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  const ResourceNeed* need = memory_need(view.kernel);
  if (!need || need->amount < view.machine.l2.value) return;
  const Moved moved = moved_bytes(view, *need);
  if (moved.bytes < tool.threshold("bytes") * need->amount) return;
  Finding finding = finding_on(
      tool, view,
      fmt::format("it moves {:.2f} times the bytes that its equations need through memory: they do not stay in L2",
                  moved.bytes / need->amount),
      view.gain(moved.bytes / need->amount, "if each byte were moved once"));
  finding.evidence.push_back(evidence("moved", moved.bytes, "B", moved.source));
  finding.evidence.push_back(evidence("needed", need->amount, "B", "plan"));
  if (view.kernel.knobs.contains("residency"))
    finding.actions.push_back(change_knobs(view, {{"residency", "auto"}}, "rows that stay on the chip"));
  finding.actions.push_back(advice("blocks that share data at the same time; a larger tile; split passes fused"));
  finding.confidence = moved.source == "counters" ? Confidence::kHigh : Confidence::kMedium;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_rereads;
const Tool solstice_tools_rereads{
    .name = "reads again",
    .question = "Does it move bytes through memory more than once?",
    .sources = {"plan"},
    .classes = {Class::kDram, Class::kL2},
    .thresholds = {{"bytes", 1.25, "x of the need", "a split pass or a second read moves at least that"}},
    .paper = "KernelPro: shared-memory tiling",
    .of_kernel = find_rereads,
    .counters = {"dram__bytes_read.sum", "dram__bytes_write.sum"},
};

}  // namespace solstice::diagnose
