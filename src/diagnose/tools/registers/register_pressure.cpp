// Registers close to the limit of a thread: the next value spills.
#include <fmt/format.h>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_pressure(const Tool& tool, const KernelView& view, std::vector<Finding>& out) {
  for (const StepFacts* step : view.steps()) {
    const int64_t registers = step->registers.value_or(0);
    if (static_cast<double>(registers) < tool.threshold("registers") * view.machine.registers_per_thread) continue;
    if (step->spill_stores.value_or(0) > 0) continue;  // said by another tool
    Finding finding = finding_on(tool, view,
                                 fmt::format("`{}` takes {} of {} registers a thread: what is added to it spills",
                                             step->entry, registers, view.machine.registers_per_thread),
                                 view.gain_of(*step, 1, "nothing is lost yet"));
    finding.place.step = step->step;
    finding.evidence.push_back(evidence("registers", static_cast<double>(registers), "a thread", "ptxas"));
    finding.actions.push_back(advice("leave work out of this kernel, or give it a smaller tile"));
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Tool solstice_tools_register_pressure;
const Tool solstice_tools_register_pressure{
    .name = "register pressure",
    .question = "Is a thread close to its limit of registers?",
    .sources = {"ptxas"},
    .classes = {},
    .thresholds = {{"registers", 0.94, "share of a thread's limit", "240 of 255: ptxas rounds up to 8"}},
    .paper = "KernelPro: high register usage",
    .of_kernel = find_pressure,
};

}  // namespace solstice::diagnose
