// The source `counters` of a candidate's facts.
#pragma once

#include <filesystem>

#include "evaluate/findings/diagnosis.h"
#include "record/diagnosis/facts.h"
#include "run/judge.h"

namespace solstice::evaluate {

// Launches of a call, by ncu on the inputs of `test`, as far as `options.counter_time` goes; which, and whose counters
// hold for which, is said in diagnose/counters/chosen_launches.h. Asks for what the tools read; for every counter where
// the options say so, and for tools elsewhere, which may read any. `plan` is the candidate's plan.json. What ncu said
// is kept in the folder that SOLSTICE_KEEP_NCU names. Errors: those of diagnose::counters_of().
Status add_counters(const std::filesystem::path& plan, run::Judge& judge, const run::JudgeCase& test,
                    const DiagnosisOptions& options, Facts& facts);

}  // namespace solstice::evaluate
