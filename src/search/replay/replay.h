// Replay: another policy on a recorded run's candidates.
//
// It decides over a tree of its own; what it gets is the record's: from a node the children that were derived from it,
// in the recorded order, each with the result that was recorded. Candidates that nobody tried do not exist, so this
// says how well a policy chooses among recorded candidates, not what it would have found. `coverage` says how far that
// carries: the share of its decisions that the record could answer. It cannot where a node's recorded children are used
// up though more could be derived from it, or where a measurement is repeated that was not.
//
// With the run's own policy and seed, the order of trials is the recorded one: same tree, same decisions. That is so of
// a record that is Record::in_order(); of another, a replay has results in the order of the trials and one proposer
// from beginning to end.
#pragma once

#include <string>

#include "search/replay/recorded.h"

namespace solstice::search {

struct Replayed {
  std::vector<Event> events;
  Sequence sequence;
  int decisions = 0;
  int answered = 0;

  double coverage() const { return decisions > 0 ? static_cast<double>(answered) / decisions : 1; }
};

// As many trials are kept in flight as were in the recorded run. Errors: those of make_policy(); bad_argument where a
// policy asks for what changes nothing.
Result<Replayed> replay(const Record& record, const std::string& policy, uint64_t seed);

}  // namespace solstice::search
