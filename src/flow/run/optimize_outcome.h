// Outcome of a run, for its caller.
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "record/report.h"

namespace solstice::flow {

struct OptimizeOutcome {
  Report report;
  std::filesystem::path out;  // folder of report.md, report.json and, if faster, model_new.py
  // A language model's provider, or the policy, ended its part of the search; all else was done.
  std::optional<Error> failed = {};
  std::vector<std::string> why = {};  // of `unsupported`: the reason of every kernel family
  bool left_whole = false;            // `unsupported`, and not tried in parts: it took turns with other problems
  std::string mode_note = {};         // the mode that the module was traced in, where it matters
  bool training = false;              // it was training mode
  bool interrupted = false;           // the search was stopped; the best it had found was verified and reported
};

}  // namespace solstice::flow
