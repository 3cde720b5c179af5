// Progress that a long job reports to an observer: a terminal, a log, a server. Observers only look; they cannot fail
// the job. Calls come from one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace solstice {

// One trial that ended. `time` is set when the candidate was verified (or, with `predicted`, modelled).
struct TrialNews {
  int number = 0;
  std::string what;     // schedule or kernel in one line: "up by gemm(math=fp16x3, tile=128x256x64)"
  std::string verdict;  // "verified", "wrong", "crashed", "hung", "did not compile", "illegal"
  std::optional<Seconds> time;
  bool predicted = false;
};

// State of the job. Fields that are not known yet stay unset.
struct Standing {
  int trials = 0;
  std::optional<int> trials_allowed;
  std::optional<Seconds> baseline;  // the original's time
  std::optional<Seconds> best;      // best verified candidate
  std::optional<Seconds> sol;       // the bound that headroom is measured against
  std::optional<Seconds> left;      // of the time budget
  bool predicted = false;           // times are modelled, not measured

  std::optional<double> speedup() const { return best && baseline ? std::optional(*baseline / *best) : std::nullopt; }
  std::optional<double> headroom() const { return best && sol ? std::optional(*best / *sol) : std::nullopt; }
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void stage_started(std::string_view name, std::string_view detail) = 0;
  virtual void stage_finished(std::string_view name, std::string_view detail, Seconds took) = 0;
  virtual void trial_finished(const TrialNews& news, const Standing& standing) = 0;
  virtual void standing_changed(const Standing& standing) = 0;  // new best, baseline, bound, or just time passing
  virtual void message(std::string_view text) = 0;
};

// For callers that do not watch.
class SilentProgress final : public Progress {
 public:
  void stage_started(std::string_view, std::string_view) override {}
  void stage_finished(std::string_view, std::string_view, Seconds) override {}
  void trial_finished(const TrialNews&, const Standing&) override {}
  void standing_changed(const Standing&) override {}
  void message(std::string_view) override {}
};

}  // namespace solstice
