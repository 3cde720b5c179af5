// Diagnosis of a trial: its facts, and what the tools make of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "evaluate/preparation.h"

namespace solstice::evaluate {

struct DiagnosisOptions {
  bool keep_facts = false;    // the record of the measurement has them: `diagnosed`
  bool counters = false;      // also of the source `counters`, which takes seconds a launch
  bool all_counters = false;  // every one of the table, to be kept or shown as they are; else what tools read
  Seconds counter_time{60};   // of one candidate: launches that would begin later are left out
  std::vector<std::shared_ptr<const diagnose::Tool>> tools = {};  // that look too, beside the built-in ones
};

// Every tool on the facts, moves checked for legality: `options.legal` is set here.
diagnose::Diagnosis diagnose_facts(const Facts& facts, const Setting& setting, diagnose::DiagnoseOptions options = {});
// `findings` in a trial's record, with `classes` of the kernels ("": of the program), `diagnosis_faults` of tools where
// there are any, `counters` where they were read, and `diagnosed`, the facts, where they are kept.
void add_findings(const Facts& facts, const Setting& setting, const DiagnosisOptions& options, Json& record);

}  // namespace solstice::evaluate
