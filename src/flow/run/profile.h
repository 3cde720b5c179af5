// One program, diagnosed: what `solstice profile` does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "flow/run/run_program.h"
#include "store/loaded_run.h"

namespace solstice::flow {

struct Profile {
  std::string subject;  // for people, of a run's trial; "" where the command line has named it
  Facts facts;
  diagnose::Diagnosis diagnosis;
  bool predicted = false;               // no GPU ran it
  std::optional<Seconds> original;      // PyTorch eager, where it was timed
  std::vector<std::string> notes = {};  // on saved facts: they are of another version, or of another GPU than described
};

struct ProfileOptions {
  std::vector<std::string> without;  // sources to leave out
  std::vector<std::string> tools;    // executables that look too (diagnose/external.h): "command:PROGRAM"
  std::string kernel;                // of the program: findings on others are left out; "": of all
};

// `text` is a scheduled program; "": the one that the cost models choose for the module of `options`. Errors: those of
// run_program(); candidate_failed where the program is refused, with its verdict; not_found for a kernel that the
// program does not have.
Result<Profile> profile_program(const std::string& text, const std::string& name, const RunOptions& options,
                                const ProfileOptions& wanted, Progress& progress);

// The module of a run, for another try of one of its programs: file, class and mode where `options.module` names none,
// the terms that `options.left_out` has, and the machine that a prediction is for. Errors: bad_argument where the run's
// module is in no file (it was given as an object, is a stage of another, or was cut), not_found where the file is
// gone.
Status take_module_of(const store::LoadedRun& loaded, RunOptions& options, Progress& progress);

// Facts that another machine may have taken. Error not_found where no machine of theirs is described here.
Result<Profile> profile_facts(Facts facts, const ProfileOptions& wanted);

}  // namespace solstice::flow
