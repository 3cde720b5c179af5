// Bytes that a kernel moves beyond those that its equations need: tensors are read again because nothing keeps them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diagnose/pipeline.h"

namespace solstice::diagnose {
namespace {

const ResourceNeed* memory_need(const KernelSheet& kernel) {
  for (const ResourceNeed& need : kernel.needs) {
    if (need.resource == "dram") return &need;
  }
  return nullptr;
}

// Whose bytes are those of the equations: passes before and after it (a split, a fold) move others.
std::vector<const StepFacts*> steps_of_equations(const KernelView& view) {
  if (const StepFacts* main = main_step(view)) return {main};
  return view.steps();
}

// Nothing where one of these was not counted. Memsets and copies are no launches.
std::optional<double> bytes_counted(const KernelView& view) {
  double out = 0;
  for (const StepFacts* step : steps_of_equations(view)) {
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

// Tensor cores work while their operands come, so that bytes may cost no time at all.
bool hides_its_loads(const KernelView& view) {
  const auto steps = steps_of_equations(view);
  return std::any_of(steps.begin(), steps.end(), [](const StepFacts* step) {
    return step->sass && count_of(step->sass->mix, "wgmma") + count_of(step->sass->mix, "mma") > 0;
  });
}

GainBound gain_of_reading_once(const KernelView& view, double times) {
  const auto steps = steps_of_equations(view);
  return steps.size() == 1 ? view.gain_of(*steps[0], times, "if each byte were moved once")
                           : view.gain(times, "if each byte were moved once");
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
      gain_of_reading_once(view, moved.bytes / need->amount));
  finding.evidence.push_back(evidence("moved", moved.bytes, "B", moved.source));
  finding.evidence.push_back(evidence("needed", need->amount, "B", "plan"));
  if (auto stays = view.setting("residency", {"registers", "shared", "once"}, "rows that stay on the chip"))
    finding.actions.push_back(std::move(*stays));
  finding.actions.push_back(advice("blocks that share data at the same time; a larger tile; split passes fused"));
  finding.confidence = moved.source == "counters" ? Confidence::kHigh : Confidence::kMedium;
  if (hides_its_loads(view)) finding.confidence = Confidence::kLow;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_reads_again;
const Tool solstice_tools_reads_again{
    .name = "reads again",
    .question = "Does it move bytes through memory more than once?",
    .sources = {"plan"},
    .classes = {},
    .thresholds = {{"bytes", 1.25, "x of the need", "a split pass or a second read moves at least that"}},
    .paper = "KernelPro: shared-memory tiling",
    .of_kernel = find_rereads,
    .shows_as = stalls_of_memory(),
    .counters = {"dram__bytes_read.sum", "dram__bytes_write.sum"},
};

}  // namespace solstice::diagnose
