// The search: trials, one by one or all.
#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "flow/run/stages/prepare/device.h"
#include "flow/run/stages/prepare/plan.h"
#include "search/search.h"

namespace solstice::flow {

struct Searched {
  search::Stop stop = search::Stop::kExhausted;
  std::optional<Error> policy_failed;  // the policy could not go on; the run does, with what there is
  std::optional<Error> agent_failed;   // the same of the language model
};

// A search that is under way. `Run` and the stages' values outlive it.
class Searching {
 public:
  Searching(Run& run, const Planned& planned, const Measurable& measurable);
  ~Searching() { run_.search_is_over = {}; }
  Searching(const Searching&) = delete;
  Searching& operator=(const Searching&) = delete;
  // Restores the tree, and starts what may be in flight. Errors: those of the store; bad_record.
  Status begin();
  // The next trial comes in; or the reason why none does any more.
  Result<std::optional<search::Stop>> step();
  // All trials: the expert's, and those of a language model.
  Result<search::Stop> finish();
  // After the search: a few trials of what was refused, with other arithmetic, until one is usable; that one, or
  // nothing (other_arithmetic.h). `refused` was measured as wrong.
  Result<std::optional<int>> try_other_arithmetic(int refused);

  Seconds left() const { return deadline_.left(); }
  const Searched& so_far() const { return searched_; }

 private:
  Status try_given();
  search::Participants participants() const;
  search::Observer observer();
  int lookahead() const;
  Result<search::Stop> go_on_with_agent(search::Stop stop);

  Run& run_;
  const Planned& planned_;
  const Measurable& measurable_;
  std::unique_ptr<search::Policy> policy_;
  Deadline deadline_;
  search::Observer observer_;
  std::optional<search::Search> search_;
  Searched searched_;
};

// Keeps event `number` of the run's tree in the store; a result as a trial.
Status record_event(Run& run, size_t number, bool measured);

// Restores the tree, and begins its search; null where the options say that the search is over.
Result<std::unique_ptr<Searching>> begin_search(Run& run, const Planned& planned, const Measurable& measurable);

// The whole search as one stage. `searching` takes it while it is under way, also where it ends in an error.
Result<Searched> search_candidates(Run& run, const Planned& planned, Measurable& measurable,
                                   std::unique_ptr<Searching>& searching);

}  // namespace solstice::flow
