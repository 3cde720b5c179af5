// Kernel spans by CUPTI's activity records, through dlopen. Only fields that have kept their place in every CUPTI of
// CUDA 11 to 13 are read. Process-wide: CUPTI has one set of callbacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace solstice::runner {

enum class ActivityKind { kKernel, kMemcpy, kMemset };

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  uint64_t start = 0;  // nanoseconds
  uint64_t end = 0;
  uint64_t bytes = 0;  // memcpy, memset
  std::string name;    // kernel's; "memcpy", "memset"
};

// Opens `library`, or the usual names where it is empty. Error no_driver, saying what was tried.
Status open_cupti(const std::string& library);
bool cupti_is_open();

Status start_tracing();                        // cuda_error
Result<std::vector<Activity>> stop_tracing();  // in order of start; error where records were dropped

// One repetition's share of a trace: first start to last end, and what ran, in order of start. What an activity shares
// with those before it is theirs: a kernel that starts early (programmatic dependent launch) waits there for the one
// before.
struct TracedRepetition {
  double seconds = 0;
  std::vector<std::string> activities;
  std::vector<double> activity_seconds;
  std::vector<double> activity_starts, activity_ends;  // seconds from the first start, as they were
};

// Splits a trace at the memsets of exactly `flush_bytes` that precede every repetition. Error candidate_failed where
// the trace does not hold `repetitions` of them, or a repetition is empty.
Result<std::vector<TracedRepetition>> split_trace(const std::vector<Activity>& trace, uint64_t flush_bytes,
                                                  size_t repetitions);

}  // namespace solstice::runner
