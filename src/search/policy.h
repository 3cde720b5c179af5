// Policies: the next node of a tree to derive a candidate from, or to measure again. A policy is a function of the
// tree, its parameters and a seed, and keeps nothing else: the same tree gives the same decision, so a recorded run
// replays, and one that was interrupted goes on as if it had not been.
//
// One file in policies/ defines one `extern const PolicySpec solstice_policies_<stem>`; that is all it takes to add
// one. A policy can also be an executable (external.h); make_policy.h makes either by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/parameters.h"
#include "search/random.h"
#include "search/tree.h"

namespace solstice::search {

struct Decision {
  int node = 0;                             // to derive from, or to measure again
  bool again = false;                       // measure it again
  Precision precision = Precision::kUsual;  // of the measurement
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Nothing: what is in flight has to come in first; where nothing is in flight, the search is at its end.
  virtual Result<std::optional<Decision>> decide(const Tree& tree) = 0;
};

struct PolicySpec {
  std::string_view name;
  std::string_view about;   // in one line
  std::string_view source;  // where it was published
  std::vector<Parameter> parameters;
  std::optional<Decision> (*decide)(const Tree& tree, const Values& values, Random& random) = nullptr;
};

const std::vector<const PolicySpec*>& all_policies();  // generated table
const PolicySpec* find_policy(std::string_view name);

// Nodes that something can be derived from.
std::vector<int> open_nodes(const Tree& tree);

// The usable ones of `nodes`, the fastest first; of equals, the one with the fewest children, then the newest: so that
// a search walks over a plateau. Where a trial was measured, those that were predicted come last. The problem counts
// where its time is known.
std::vector<int> ranked(const Tree& tree, std::vector<int> nodes);

}  // namespace solstice::search
