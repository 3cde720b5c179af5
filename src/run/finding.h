// Findings: failures of a candidate that are data, not errors.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "record/verdict.h"

namespace solstice::run {

// The fate of a candidate, where it is not a full verdict: kPassed with an empty message, or a failure.
struct Finding {
  Outcome outcome = Outcome::kPassed;
  std::string message;
  bool passed() const { return outcome == Outcome::kPassed; }
};

// An error of the runner as a finding. nullopt: it is none of the candidate's (no_driver, no_gpu, io_error...).
std::optional<Finding> finding_of(const Error& error, bool loading);

}  // namespace solstice::run
