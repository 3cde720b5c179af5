// One program, diagnosed: what `solstice profile` does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "flow/run/run_program.h"

namespace solstice::flow {

struct Profile {
  Facts facts;
  diagnose::Diagnosis diagnosis;
  bool predicted = false;           // no GPU ran it
  std::optional<Seconds> original;  // PyTorch eager, where it was timed
};

struct ProfileOptions {
  std::vector<std::string> without;  // sources to leave out
  std::vector<std::string> tools;    // executables that look too (diagnose/external.h): "command:PROGRAM"
  std::string kernel;                // of the program: findings on others are left out; "": of all
};

// `text` is a scheduled program; "": the one that the cost models choose for the module of `options`. Errors: those of
// run_program(); candidate_failed where the program is refused, with its verdict; not_found for a kernel that the
// program does not have.
Result<Profile> profile_program(const std::string& text, const std::string& name, const OptimizeOptions& options,
                                const ProfileOptions& wanted, Progress& progress);

// Facts that another machine may have taken. Error not_found where no machine of theirs is described here.
Result<Profile> profile_facts(Facts facts, const ProfileOptions& wanted);

}  // namespace solstice::flow
