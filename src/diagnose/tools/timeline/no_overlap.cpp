// Launches that depend on each other and start one after the end of the other, although the next one's beginning could
// hide behind the last wave of the first (programmatic dependent launch).
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_serial(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  const std::vector<TimelineEntry>& line = view.facts.timeline;
  std::map<std::string, const StepFacts*> steps;
  for (const KernelSheet& kernel : view.facts.kernels) {
    for (const StepFacts& step : kernel.steps) steps[step.step] = &step;
  }
  int serial = 0;
  for (size_t i = 1; i < line.size(); ++i) {
    const auto step = steps.find(line[i].step);
    const bool launch = step != steps.end() && !step->second->entry.empty();
    serial += launch && !step->second->pdl && line[i].start >= line[i - 1].end;
  }
  if (serial == 0) return;
  const Seconds hidden = view.machine.launch_time() * static_cast<double>(serial);
  const double share = view.time().value > 0 ? hidden / view.time() : 0;
  if (share < tool.threshold("share")) return;
  Finding finding = finding_on(tool, fmt::format("{} launches wait for the end of the one before", serial),
                               {gain_without(share), 1, "if each began a launch's time earlier"});
  finding.evidence.push_back(evidence("launches that do not overlap", serial, "", "trace"));
  finding.actions.push_back(advice("families start early where they can; given code may (`pdl`)"));
  finding.confidence = Confidence::kLow;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_no_overlap;
const Tool solstice_tools_no_overlap{
    .name = "no overlap",
    .question = "Could dependent launches overlap?",
    .sources = {"trace", "plan"},
    .classes = {},
    .thresholds = {{"share", 0.03, "share of a call", "below it nothing is won"}},
    .of_program = find_serial,
};

}  // namespace solstice::diagnose
