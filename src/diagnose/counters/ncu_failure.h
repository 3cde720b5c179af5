// Why a launch was not profiled, from ncu's own words and its end, and the one line that would open it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/judge.h"

namespace solstice::diagnose {

struct NcuFailure {
  std::string why;
  std::string opens;    // "" where nothing that a person does would help
  bool of_all = false;  // of the machine: no other launch would fare better
};

// `log` is what ncu wrote to its log file; `run` the profiled run, or the error that ended it; `kernels` those that
// were to be read, quoted. For launches of which no report came.
NcuFailure explain_failure(std::string_view log, const Result<run::ProfiledRun>& run, std::string_view kernels);

// Those of `metrics` that ncu refused by name; it then profiles nothing at all.
std::set<std::string> refused_metrics(std::string_view log, const std::vector<std::string>& metrics);

}  // namespace solstice::diagnose
