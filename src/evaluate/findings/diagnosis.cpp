#include "evaluate/findings/diagnosis.h"

#include <fmt/format.h>

#include "diagnose/counters/counter_table.h"
#include "evaluate/findings/actions.h"

namespace solstice::evaluate {

diagnose::Diagnosis diagnose_facts(const Facts& facts, const Setting& setting, diagnose::DiagnoseOptions options) {
  std::optional<Moves> moves;  // of a program that needs reading
  options.legal = [&](const FindingAction& action) {
    if (!moves) moves.emplace(facts.program, setting);
    return moves->is_legal(action);
  };
  return diagnose::diagnose(facts, setting.machine, options);
}

namespace {

std::string name_with_unit(const std::string& metric) {
  const diagnose::Counter* counter = diagnose::find_counter(metric);
  return counter ? fmt::format("{} ({})", counter->name, counter->unit) : metric;
}

// By step, each counter as it is; of a step that is alike to another, which that is.
Json counters_of_steps(const Facts& facts) {
  Json out = Json::array();
  for (const KernelSheet& kernel : facts.kernels) {
    for (const StepFacts& step : kernel.steps) {
      if (!step.counters) continue;
      if (!step.counters->of.empty()) {
        out.push(Json::object().set("step", step.step).set("alike", step.counters->of));
        continue;
      }
      Json values = Json::object();
      for (const auto& [metric, value] : step.counters->metrics) values.set(name_with_unit(metric), value);
      for (const auto& [reason, share] : step.counters->stalls)
        values.set(fmt::format("warp stall {} (share)", reason), share);
      out.push(Json::object().set("step", step.step).set("counters", values));
    }
  }
  return out;
}

}  // namespace

void add_findings(const Facts& facts, const Setting& setting, const DiagnosisOptions& options, Json& record) {
  diagnose::DiagnoseOptions with;
  with.tools = diagnose::all_tools();
  for (const auto& tool : options.tools) with.tools.push_back(tool.get());
  const diagnose::Diagnosis found = diagnose_facts(facts, setting, std::move(with));
  Json findings = Json::array();
  for (const Finding& finding : found.findings) findings.push(to_json(finding));
  Json classes = Json::object().set("", enum_name(found.program.of()));
  for (const auto& [kernel, classified] : found.kernels) classes.set(kernel, enum_name(classified.of()));
  record.set("findings", findings).set("classes", classes);
  if (!found.faults.empty()) record.set("diagnosis_faults", text_list(found.faults));
  if (const Json counters = counters_of_steps(facts); counters.size() > 0) record.set("counters", counters);
  if (options.keep_facts) record.set("diagnosed", to_json(facts));
}

}  // namespace solstice::evaluate
