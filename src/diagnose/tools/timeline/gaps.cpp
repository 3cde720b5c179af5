// Idle time of the GPU between two steps of a call.
#include <fmt/format.h>

#include <algorithm>

#include "diagnose/tool.h"

namespace solstice::diagnose {
namespace {

void find_gaps(const Tool& tool, const ProgramView& view, std::vector<Finding>& out) {
  const std::vector<TimelineEntry>& line = view.facts.timeline;
  if (line.size() < 2) return;
  Seconds idle, longest, busy_until = line[0].end;
  size_t where = 0;
  for (size_t i = 1; i < line.size(); ++i) {
    const Seconds gap = std::max(line[i].start - busy_until, Seconds(0));
    idle += gap;
    if (gap > longest) {
      longest = gap;
      where = i;
    }
    busy_until = std::max(busy_until, line[i].end);
  }
  double share = busy_until.value > 0 ? idle / busy_until : 0;
  // A traced call is slower than a timed one, and between its steps alone: gaps cannot take more than the timed call
  // leaves to them.
  if (view.facts.measured && view.facts.measured->value > 0)
    share = std::min(share, std::max(0.0, 1 - (busy_until - idle) / *view.facts.measured));
  if (share < tool.threshold("idle")) return;
  Finding finding = finding_on(tool,
                               fmt::format("the GPU is idle for {:.0f} % of a call, longest between `{}` and `{}`",
                                           100 * share, line[where - 1].step, line[where].step),
                               {gain_without(share), 1, "without the gaps"});
  finding.place.step = line[where].step;
  finding.evidence.push_back(evidence("idle", idle.value * 1e6, "us", "trace"));
  finding.evidence.push_back(evidence("longest gap", longest.value * 1e6, "us", "trace"));
  finding.actions.push_back(advice("launches that overlap (programmatic dependent launch), or a replayed graph"));
  finding.confidence = Confidence::kHigh;
  out.push_back(std::move(finding));
}

}  // namespace

extern const Tool solstice_tools_gaps;
const Tool solstice_tools_gaps{
    .name = "gaps",
    .question = "Is the GPU idle between steps?",
    .sources = {"trace"},
    .classes = {},
    .thresholds = {{"idle", 0.05, "share of a call", "what closing all gaps would bring"}},
    .of_program = find_gaps,
    .says = Says::kUnit,
    .explains = {"no overlap"},
};

}  // namespace solstice::diagnose
