// One process of ncu: a batch of launches, each replayed as often as its counters need, and the pages of its report.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/counters/counter_request.h"
#include "diagnose/counters/launch_batch.h"
#include "diagnose/counters/ncu_failure.h"

namespace solstice::diagnose {

struct BatchResult {
  std::map<std::string, CounterFacts> steps;  // of the wanted ones those that were read
  std::optional<NcuFailure> failure;          // why others were not
  std::vector<std::string> notes;             // "step: value: reason"
};

class Profiling {
 public:
  Profiling(const CounterRequest& request, const ProfiledWork& work, std::filesystem::path ncu)
      : request_(request), work_(work), ncu_(std::move(ncu)) {}

  // Leaves out what this ncu does not have; returns a note for each.
  std::vector<std::string> choose_metrics(std::string_view arch);
  // A metric that ncu refuses by name is left out from then on, and the batch read again.
  Result<BatchResult> profile(const LaunchBatch& batch, const run::ProfileLimits& limits);

 private:
  Result<BatchResult> profile_once(const LaunchBatch& batch, const run::ProfileLimits& limits, std::string& log);
  BatchResult read_report(const std::filesystem::path& report, const LaunchBatch& batch, std::string_view log) const;
  Result<std::string> page(const std::filesystem::path& report, const LaunchBatch& batch, std::string_view name) const;
  SourcePage listings(const std::filesystem::path& report, const LaunchBatch& batch, const RawPage& raw,
                      std::vector<std::string>& notes) const;
  Status keep(const LaunchBatch& batch, std::string_view what, std::string_view text) const;
  void drop(const std::set<std::string>& refused, std::vector<std::string>& notes);

  const CounterRequest& request_;
  const ProfiledWork& work_;
  std::filesystem::path ncu_;
  std::vector<std::string> metrics_;
};

}  // namespace solstice::diagnose
