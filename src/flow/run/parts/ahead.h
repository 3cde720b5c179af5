// Compiling ahead: the first candidate of each stage goes to the compiler while Python looks at the next one, so that
// the stages' searches find it done. It decides nothing: what a search does not ask for lies in the compiler's cache.
#pragma once

#include <vector>

#include "evaluate/preparation.h"
#include "flow/run/problem/problem.h"
#include "flow/run/stages/prepare/open.h"
#include "flow/run/state/run.h"

namespace solstice::flow {

class CompiledAhead {
 public:
  CompiledAhead(Run& run, const Opened& opened) : run_(run), opened_(opened) {}

  // Without a compiler nothing happens. A stage that has no first candidate has none here: its own run says why.
  void begin(const Problem& stage, Seconds budget);

 private:
  Run& run_;
  const Opened& opened_;
  std::vector<evaluate::Preparation> begun_;
};

}  // namespace solstice::flow
