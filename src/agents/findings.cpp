#include "agents/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "agents/machine_use.h"
#include "base/time_text.h"
#include "record/diagnosis/finding.h"
#include "record/kernel_trace.h"

namespace solstice::agents {
namespace {

constexpr size_t kMostFindings = 5, kMostActions = 2;  // of a prompt

std::string kernels_text(const Finding& finding) {
  if (finding.place.kernel.empty()) return "";
  std::string out = place_text(finding.place);
  if (!finding.also.empty()) out += fmt::format(" and {} alike", finding.also.size());
  return out + ": ";
}

std::string action_text(const ActionGroup& group) {
  const FindingAction& action = *group.first;
  const std::string knobs = action.knobs.empty() ? "" : fmt::format(" ({})", knobs_text(action));
  return action.text + knobs + more_text(group);
}

// Bounds of gains are the speed of light in other words.
std::string text_of(const Finding& finding, bool sol) {
  std::string out = kernels_text(finding) + finding.cause;
  if (sol && finding.gain.program > 1) out += fmt::format("; at most {:.2f}x of the whole", finding.gain.program);
  std::vector<std::string> actions;
  for (const ActionGroup& action : grouped_actions(finding)) {
    if (actions.size() < kMostActions) actions.push_back(action_text(action));
  }
  return actions.empty() ? out : fmt::format("{}; try: {}", out, fmt::join(actions, ", or "));
}

// What a kernel is at its ceiling is told by its share of the machine already.
std::vector<std::string> texts_of_findings(const Json& record, bool sol) {
  const Result<std::vector<Finding>> findings = findings_of_record(record);
  if (!findings.ok()) return {"the findings cannot be read: " + findings.error().message};
  std::vector<std::string> out;
  for (const Finding& finding : *findings) {
    if (finding.severity != FindingSeverity::kNote && out.size() < kMostFindings) out.push_back(text_of(finding, sol));
  }
  return out;
}

// "the cost models give `gemm` (gemm) 531 us, 97 % of their sum".
std::vector<std::string> text_of_costs(const Json& costs) {
  double sum = 0;
  for (const Json& cost : costs.items()) sum += cost.at("seconds").as_double();
  std::vector<std::string> out;
  if (costs.size() < 2 || sum <= 0) return out;
  for (const Json& cost : costs.items()) {
    const double seconds = cost.at("seconds").as_double();
    out.push_back(fmt::format("the cost model gives kernel `{}` (by {}) {}, {:.0f} % of the sum, limited by {}",
                              cost.at("kernel").as_string(), cost.at("family").as_string(), time_text(Seconds(seconds)),
                              100 * seconds / sum, cost.at("bound").as_string()));
  }
  return out;
}

// "measured: kernel `a` 12.3 us (predicted 10.1 us), ..."; "" where it could not be taken. What is predicted is the
// cost models' word.
std::string text_of_trace(const Json& record, bool with_predictions) {
  Result<KernelTrace> trace = kernel_trace_of(record);
  if (!trace.ok()) return "the times by kernel cannot be read: " + trace.error().message;
  for (TracedKernel& kernel : trace->kernels) {
    if (!with_predictions) kernel.predicted.reset();
  }
  return trace->kernels.empty() ? "" : "measured: " + text_of(*trace);
}

}  // namespace

std::vector<std::string> findings_of(const search::Measurement& measurement, bool sol) {
  std::vector<std::string> out;
  const auto add = [&](std::string text) {
    if (!text.empty() && std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  };
  add(text_of_trace(measurement.record, sol));
  if (sol && out.empty()) {  // the times by kernel say what is predicted too
    for (std::string& text : text_of_costs(measurement.record.at("costs"))) add(std::move(text));
  }
  if (sol) add(text_of_use(measurement));
  add(text_of_choices(measurement));
  for (std::string& text : texts_of_findings(measurement.record, sol)) add(std::move(text));
  for (const Json& module : measurement.record.at("modules").items()) {
    for (const Json& note : module.at("notes").items()) add("ptxas: " + note.at("text").as_string());
  }
  return out;
}

std::vector<std::string> raw_counters(const search::Measurement& measurement) {
  Json kernels = Json::array();
  for (const Json& module : measurement.record.at("modules").items()) {
    for (const Json& kernel : module.at("kernels").items()) kernels.push(kernel);
  }
  const Json resources = Json::object().set("kernels", kernels).set("seconds", measurement.record.at("seconds"));
  std::vector<std::string> out = {resources.dump()};
  for (const Json& launch : measurement.record.at("counters").items()) out.push_back(launch.dump());
  return out;
}

}  // namespace solstice::agents
