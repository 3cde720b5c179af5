#include "flow/run/state/trial_of.h"

#include <algorithm>

#include "base/clock.h"
#include "base/time_text.h"

namespace solstice::flow {
namespace {

// Modules are compiled side by side; what the cache had took no time.
Seconds slowest_compile(const Json& modules) {
  double slowest = 0;
  for (size_t i = 0; i < modules.size(); ++i) {
    const Json& module = modules.at(i);
    if (!module.at("cached").as_bool()) slowest = std::max(slowest, module.at("seconds").as_double());
  }
  return Seconds(slowest);
}

}  // namespace

std::optional<Seconds> prediction_of(const search::Node& node) {
  if (node.proposal.predicted.value > 0) return node.proposal.predicted;
  const bool predicted = node.measurement && node.measurement->state == TrialState::kPredicted;
  return predicted ? std::optional(node.measurement->time) : std::nullopt;
}

TrialRecord trial_of(const std::string& run, const search::Node& node, bool measured) {
  const search::Measurement& m = *node.measurement;
  TrialRecord trial;
  trial.run = run;
  trial.number = node.id;
  trial.origin = node.proposal.origin;
  trial.program = node.proposal.program;
  trial.what = node.proposal.reason;
  trial.state = m.state;
  trial.message = m.detail;
  trial.predicted = prediction_of(node);
  if (measured && node.usable()) trial.measured = m.time;
  trial.verdict = m.record.at("verdict");
  trial.settings = node.proposal.settings;
  trial.equations = node.proposal.equations;
  trial.cut = node.proposal.cut;
  trial.meaning = m.record.at("meaning").as_string();
  trial.timing = m.record.at("seconds");
  trial.table = m.record.at("table");
  trial.findings = m.record.at("findings");
  trial.trace = m.record.at("trace");
  trial.cost = m.record.at("modules");
  trial.compile_time = slowest_compile(trial.cost);
  trial.measuring = Seconds(m.record.at("measuring").as_double());
  if (m.record.find("gpu")) trial.gpu = static_cast<int>(m.record.at("gpu").as_int());
  trial.started = utc_now();
  return trial;
}

}  // namespace solstice::flow
