// The user's module, imported into equations, or the program that has them.
#pragma once

#include <memory>
#include <optional>

#include "evaluate/candidate.h"
#include "evaluate/meaning.h"
#include "flow/run/problem/problem.h"
#include "flow/run/problem/trial_inputs.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

struct Imported {
  Problem problem;
  std::unique_ptr<evaluate::Meaning> meaning;  // of the problem
  TrialInputs inputs = {};                     // of the run before, where that was of the same module
  std::string schedule = {};                   // of a program that has one: its text, which is tried first
};

// Errors: those of load_problem(); deadline where it takes all of a budget that the user gave. Where the module was
// traced and is no problem of ours as it is, it is `refused`.
Result<Imported> import_problem(Run& run, std::optional<Problem>* refused = nullptr);

// The setting that candidates are checked in.
evaluate::Setting setting_of(const Run& run, const Opened& opened, const Imported& imported);

}  // namespace solstice::flow
