#include "cli/view/finding_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "base/counted.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

constexpr int kFindingWidth = 110;

std::string evidence_text(const Finding& finding) {
  std::vector<std::string> parts;
  for (const Evidence& each : finding.evidence) {
    const std::string unit = each.unit.empty() || each.unit == "%" ? each.unit : " " + each.unit;
    parts.push_back(fmt::format("{} {:.4g}{} ({})", each.what, each.value, unit, each.source));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string action_text(const ActionGroup& group) {
  const FindingAction& action = *group.first;
  if (action.knobs.empty()) return action.text + more_text(group);
  return fmt::format("{} (`{}`: {}{})", action.text, action.kernel, knobs_text(action), more_text(group));
}

std::string gain_text(const GainBound& gain) {
  if (gain.open) return gain.because;
  if (gain.program <= 1) return "";
  return fmt::format("at most {} of the whole: {}", show_factor(gain.program), gain.because);
}

std::string class_text(const diagnose::Classified& found) {
  std::string out = enum_name(found.of());
  for (const diagnose::ClassShare& need : found.needs)
    out += fmt::format(", {} {}", enum_name(need.unit), show(need.time));
  return found.conflict.empty() ? out : out + "; " + found.conflict;
}

std::string kernels_text(const flow::Profile& profile) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "family", "time", "bound", "over bound", "limited by"}};
  for (size_t i = 0; i < profile.facts.kernels.size(); ++i) {
    const KernelSheet& kernel = profile.facts.kernels[i];
    const std::optional<Seconds> time = kernel.measured ? kernel.measured : kernel.predicted;
    const bool both = time && kernel.bound && kernel.bound->value > 0;
    rows.push_back({kernel.kernel, kernel.family, time ? show(*time, !kernel.measured) : "-",
                    kernel.bound ? show(*kernel.bound) : "-", both ? show_factor(*time / *kernel.bound) : "-",
                    class_text(profile.diagnosis.kernels[i].second)});
  }
  return table(std::move(rows));
}

std::string heading(const flow::Profile& profile) {
  const Facts& facts = profile.facts;
  std::string out;
  if (facts.measured)
    out = fmt::format("{} on {}", show(*facts.measured), facts.device.empty() ? facts.machine : facts.device);
  else if (facts.predicted)
    out = fmt::format("predicted {} on {}", show(*facts.predicted), facts.machine);
  if (profile.original && facts.measured)
    out += fmt::format(", PyTorch eager {} ({})", show(*profile.original),
                       show_factor(*profile.original / *facts.measured));
  if (facts.bounds.practical) out += fmt::format("; practical bound {}", show(*facts.bounds.practical));
  for (const std::string& note : profile.notes) out += "\n" + wrap("note: " + note, kFindingWidth, 6);
  return out + fmt::format("\nbounded by: {}\n", class_text(profile.diagnosis.program));
}

constexpr size_t kMostSteps = 4;  // that are named in a line

std::string for_steps(const std::vector<std::string>& steps) {
  return steps.empty() ? "" : " for " + first_names(steps, kMostSteps);
}

std::string open_text(const diagnose::Diagnosis& diagnosis) {
  using Key = std::tuple<std::string, std::vector<std::string>, std::string>;
  std::map<Key, std::vector<const diagnose::OpenQuestion*>> questions;
  for (const diagnose::OpenQuestion& open : diagnosis.open)
    questions[{open.source, open.steps, open.why}].push_back(&open);
  std::string out;
  for (const auto& [key, open] : questions) {
    std::vector<std::string> asked;
    for (const diagnose::OpenQuestion* each : open) asked.push_back(each->tool);
    const diagnose::OpenQuestion& first = *open.front();
    out += wrap(fmt::format("open without {}{} ({}{}): {}", first.source, for_steps(first.steps), first.why,
                            first.opens.empty() ? "" : "; to open: " + first.opens, fmt::join(asked, ", ")),
                kFindingWidth, 2) +
           "\n";
  }
  for (const std::string& fault : diagnosis.faults) out += "tool failed: " + fault + "\n";
  return out;
}

std::string partial_sources_text(const Facts& facts) {
  std::string out;
  for (const SourceState& source : facts.sources) {
    if (source.there && !source.why.empty())
      out += wrap(fmt::format("{} in part: {}", source.name, source.why), kFindingWidth, 2) + "\n";
  }
  return out;
}

// The line that a place names; "" where the program has none such. Given code begins after its `source` line.
std::string line_of(const std::string& program, const FindingPlace& place) {
  std::istringstream lines(program);
  int number = place.file.empty() ? 0 : -1;  // -1: before that code
  for (std::string line; std::getline(lines, line);) {
    if (number >= 0 && ++number == place.line) return line;
    if (number < 0 && line.starts_with("source \"" + place.file + "\"")) number = 0;
  }
  return "";
}

std::string quoted_line(const std::string& program, const FindingPlace& place) {
  if (place.line <= 0) return "";
  const std::string line = line_of(program, place);
  const size_t begin = line.find_first_not_of(' ');
  if (begin == std::string::npos || line.substr(begin) == place.equation) return "";  // which is shown already
  return fmt::format("line {}: {}", place.line, line.substr(begin));
}

}  // namespace

std::string finding_text(const Finding& finding, int number, const std::string& program) {
  std::string out = wrap(fmt::format("{}. {} [{}, {}] {}", number, place_text(finding.place), finding.tool,
                                     enum_name(finding.severity), finding.cause),
                         kFindingWidth, 3) +
                    "\n";
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out += "   " + wrap(text, kFindingWidth - 3, 5) + "\n";
  };
  line(quoted_line(program, finding.place));
  line("evidence: " + evidence_text(finding));
  line(gain_text(finding.gain));
  for (const ActionGroup& action : grouped_actions(finding)) line("try: " + action_text(action));
  return out;
}

std::string profile_text(const flow::Profile& profile) {
  std::string out = profile.subject.empty() ? "" : profile.subject + "\n";
  out += heading(profile) + "\n" + kernels_text(profile) + "\n";
  int number = 0;
  for (const Finding& finding : profile.diagnosis.findings)
    out += finding_text(finding, ++number, profile.facts.program) + "\n";
  if (number == 0) out += "no findings\n\n";
  return out + partial_sources_text(profile.facts) + open_text(profile.diagnosis);
}

Json profile_json(const flow::Profile& profile) {
  const auto classified = [](const diagnose::Classified& found) {
    Json needs = Json::array();
    for (const auto& need : found.needs)
      needs.push(Json::object().set("unit", enum_name(need.unit)).set("seconds", need.time.value));
    Json out = Json::object().set("class", enum_name(found.of())).set("needs", needs);
    if (found.measured) out.set("measured", enum_name(*found.measured)).set("measured_share", found.measured_share);
    return found.conflict.empty() ? out : out.set("conflict", found.conflict);
  };
  Json kernels = Json::object(), findings = Json::array(), open = Json::array();
  for (const auto& [name, found] : profile.diagnosis.kernels) kernels.set(name, classified(found));
  for (const Finding& finding : profile.diagnosis.findings) findings.push(to_json(finding));
  for (const diagnose::OpenQuestion& each : profile.diagnosis.open) {
    Json question = Json::object().set("tool", each.tool).set("question", each.question).set("source", each.source);
    question.set("why", each.why).set("opens", each.opens);
    const Json steps = text_list(each.steps);
    open.push(each.steps.empty() ? question : question.set("steps", steps));
  }
  const Json notes = text_list(profile.notes);
  Json out = Json::object().set("predicted", profile.predicted).set("program", classified(profile.diagnosis.program));
  out.set("kernels", kernels)
      .set("findings", findings)
      .set("open", open)
      .set("faults", text_list(profile.diagnosis.faults))
      .set("notes", notes);
  if (!profile.subject.empty()) out.set("subject", profile.subject);
  if (profile.original) out.set("original", profile.original->value);
  return out.set("facts", to_json(profile.facts));
}

}  // namespace solstice::cli
