// The trial of a run that a command is given.
#pragma once

#include <string>

#include "record/trial.h"
#include "store/loaded_run.h"

namespace solstice::cli {

// Error not_found, with what the run has, where no trial of this number has a result.
Result<TrialRecord> trial_named(const store::LoadedRun& loaded, const std::string& number);

// The fastest usable one; measured ones alone once a trial was. Error not_found where none is usable.
Result<TrialRecord> best_trial(const store::LoadedRun& loaded);

// Its text. Error not_found of a trial that ended before there was one.
Result<std::string> program_of(const TrialRecord& trial);

}  // namespace solstice::cli
