// A stored run as it is shown: the tree that its events say, and when what happened to each node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "search/tree.h"
#include "store/store.h"

namespace solstice::cli {

// One measurement of a node, from when it was asked for.
struct Attempt {
  std::string begun, ended;  // UTC; `ended` is "" where it has not
  search::Precision precision = search::Precision::kUsual;
  bool lost = false;  // given up; a measurement beside that came late
  std::optional<search::Measurement> measurement;
};

struct RunView {
  RunRecord run;
  search::Tree tree;
  std::vector<std::vector<Attempt>> attempts;  // by node
  int skipped = 0;                             // proposals that were not tried
  std::vector<bool> on_path;                   // by node: the best and what it was derived from

  Seconds original() const;  // timed; 0: unknown
  std::optional<double> factor(
      const search::Node&) const;  // of a usable node: the original's time over its own, where both are known
  // "verified", "wrong", "in flight", "unfinished" (the run has ended), "lost", "original".
  std::string state_text(const search::Node&) const;
};

// Errors: not_found where the run has no events, as those made before searches were stored; bad_record where they do
// not fit.
Result<RunView> view_of(const store::LoadedRun& loaded);

// All of it but the programs and what was recorded of each measurement, unless `whole`. Times are seconds; what is not
// known is null.
Json json_of(const RunView& view, bool whole);

}  // namespace solstice::cli
