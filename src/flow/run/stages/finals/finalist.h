// One of the fastest candidates of a search, on its way to be the winner.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/kernel_trace.h"
#include "record/report.h"
#include "record/timing.h"
#include "record/verdict.h"
#include "run/judge.h"

namespace solstice::flow {

// It wins when it passed every case of the full verification and was the fastest of those when they were timed in turn.
struct Finalist {
  int node = -1;
  std::optional<Verdict> verdict;  // of the full verification
  std::vector<ErrorRow> errors;
  std::shared_ptr<run::CandidateRun> process;  // held to be timed
  std::optional<Timing> timing;
  std::optional<Measured> span;         // from its first kernel's start to its last activity's end, by CUPTI
  std::vector<std::string> activities;  // kernels and copies of one execution
  std::vector<TracedKernel> by_kernel;  // the same by the program's kernels
  std::string left_out;                 // what it leaves out of PyTorch's 0 * NaN, as a report says it, "" nothing
  std::string refused;                  // reason why it is out, "" while it is in
};

// Out of the running, for a reason that the report tells.
void refuse(Report& report, Finalist& finalist, std::string why);

// "14 cases, each twice"
std::string cases_text(const Verdict& verdict);

}  // namespace solstice::flow
