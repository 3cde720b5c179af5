// The stages of a module with PyTorch's calls between them as one drop-in: written, checked, timed, reported.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flow/run/parts/cut.h"
#include "flow/run/problem/problem.h"
#include "flow/run/stages/finals/check_dropin.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

// What the run of a stage came to.
struct StageOutcome {
  CutStage stage;
  std::optional<Report> report;  // none: the run failed
  std::filesystem::path folder;  // of its outcome
  std::string failed;            // why, without a report
  bool not_begun = false;        // the run ended before it

  int trials() const;           // of its search
  bool tried() const;           // there was time for one
  std::string outcome() const;  // a word
  bool faster() const;          // it has kernels that were verified, or that are predicted to be faster
  Seconds time() const;         // of those; 0: not known
  Seconds original() const;     // in PyTorch: measured, or predicted
  std::string why_not() const;  // it has none
};

class Assembly {
 public:
  // `clocks`: of the GPU, read while the drop-in is timed.
  Assembly(Run& run, const Opened& opened, const Problem& whole, ReadClocks clocks)
      : run_(run), opened_(opened), whole_(whole), clocks_(std::move(clocks)) {}

  // Outcome, headline, rows and baselines of the report, and the drop-in in the run's fresh folder. A drop-in that
  // fails its check or is no faster is an outcome; an oracle that is lost after the drop-in was timed costs what was
  // not measured yet, with a warning. Errors: those of the oracle before that; io_error, disk_full.
  Status finish(const Cut& cut, std::vector<StageOutcome>& stages);

 private:
  Result<std::string> put_together();
  void time_baselines();
  void predict();
  std::pair<Seconds, Seconds> predicted_times() const;
  Result<std::string> measure();
  void measure_calls();
  Result<std::string> check(const std::string& path);
  Result<std::string> time(const std::string& path);
  Status write();
  Status ask_schedule();
  Status copy_stage(const StageOutcome& stage);
  std::string impossible() const;
  void add_rows();
  void fill_shares();
  std::vector<int> kept() const;
  std::string nothing_ours() const;
  bool drop_deciders();

  Run& run_;
  const Opened& opened_;
  const Problem& whole_;
  ReadClocks clocks_;
  Json schedule_;  // of the stages that are kept
  const Cut* cut_ = nullptr;
  std::vector<StageOutcome>* stages_ = nullptr;
  double limit_ = 1;                         // of timed results (timed_limit)
  std::map<std::string, Seconds> measured_;  // PyTorch's calls, by name
  std::set<int> dropped_;                    // stages that would decide otherwise than PyTorch
};

}  // namespace solstice::flow
