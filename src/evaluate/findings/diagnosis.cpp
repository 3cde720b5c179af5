#include "evaluate/findings/diagnosis.h"

#include "evaluate/findings/actions.h"

namespace solstice::evaluate {

diagnose::Diagnosis diagnose_facts(const Facts& facts, const Setting& setting, diagnose::DiagnoseOptions options) {
  options.legal = [&](const FindingAction& action) { return is_legal_move(facts.program, action, setting); };
  return diagnose::diagnose(facts, setting.machine, options);
}

void add_findings(const Facts& facts, const Setting& setting, const DiagnosisOptions& options, Json& record) {
  const diagnose::Diagnosis found = diagnose_facts(facts, setting);
  Json findings = Json::array(), faults = Json::array();
  for (const Finding& finding : found.findings) findings.push(to_json(finding));
  for (const std::string& fault : found.faults) faults.push(fault);
  record.set("findings", findings);
  if (faults.size() > 0) record.set("diagnosis_faults", faults);
  if (options.keep_facts) record.set("diagnosed", to_json(facts));
}

}  // namespace solstice::evaluate
