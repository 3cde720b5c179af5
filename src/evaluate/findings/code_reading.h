// Machine code of a trial, read in a thread of its own while the trial is timed: both take about as long.
#pragma once

#include <future>
#include <vector>

#include "evaluate/findings/program_facts.h"

namespace solstice::evaluate {

class CodeReading {
 public:
  struct Read {
    std::vector<SassOfModule> modules;  // in the order of the plan's
    Seconds took;
  };

  CodeReading() = default;  // nothing is read
  // Without places in the program. Keeps what it needs of the build.
  explicit CodeReading(const Built& built);
  bool begun() const { return read_.valid(); }
  bool done() const;  // it would not be waited for
  const Read& wait() const { return read_.get(); }

 private:
  std::shared_future<Read> read_;  // the last one that is destroyed waits for the thread
};

}  // namespace solstice::evaluate
