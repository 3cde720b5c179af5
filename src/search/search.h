// The search loop: a Policy says where, a Proposer what to try there, an Evaluator finds out, the budget says when to
// stop.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "search/policy.h"
#include "search/stop_rule.h"
#include "search/tree.h"

namespace solstice::search {

class Proposer {
 public:
  virtual ~Proposer() = default;
  // The next candidate derived from this node, whose text the tree has not seen. Where there is none: nothing, or a
  // proposal without a program, which says why and what that took; the node is spent then, and no trial is used. One
  // with a `role` is a turn before the candidate: it is noted, and asked for the next from the same node (attempt.h).
  // The tree is all that it goes by: a proposer that is started again on the same tree goes on as the one before.
  // Errors of the user and of the environment (no more may be spent, a provider is down) end the search as a budget
  // does, and the observer is told; internal ones are errors of the search.
  virtual Result<std::optional<Proposal>> propose(const Tree& tree, int node) = 0;
};

// A result; without a measurement, that none will come.
struct Landed {
  int node = 0;
  std::optional<Measurement> measurement;
};

// Trials overlap: `start` begins what needs no device (checking, compiling), `land` waits for the next that is done, in
// any order. An error ends the search; a candidate that fails is a Measurement.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // With node.proposal.precision. One that is started and has not landed is not started again: searches of one tree
  // follow each other.
  virtual void start(const Node& node) = 0;
  virtual Result<Landed> land() = 0;
};

// One whose trials are finished in the order in which they were started.
class InOrder : public Evaluator {
 public:
  void start(const Node& node) final;
  Result<Landed> land() final;

 protected:
  virtual void begin(const Node& node) = 0;
  virtual Result<Measurement> finish(int node) = 0;

 private:
  std::deque<int> started_;
};

struct Budget {
  Seconds time{60};
  int trials = 40;
  StopRule rule = {};
  Seconds bound{0};  // no faster candidate is expected; 0: none is known
  size_t since =
      0;  // events of the tree before this one were another proposer's, and count for neither `rule` nor `lost`
  Seconds lost{0};        // stop once `rule.least` trials are done and the best takes longer; 0: never
  bool measured = false;  // trials are: what was predicted before counts for none of these, and is no best
  bool finish = false;    // trials in flight when time is up are finished: they took long to make
  double hopeless = 0;    // a proposal expected to take this much longer than the best is not tried; 0: all are
};

// The stop of a search of this tree by the results so far, from `rule` and `lost`; nothing: it goes on. Errors: events
// that do not fit.
Result<std::optional<Stop>> has_enough(const Tree& tree, const Budget& budget);

// This proposal is expected to take Budget::hopeless times as long as the best. A measurement of an earlier run
// speaks for itself; a cost model is believed only as far as its luckiest prediction in this run: if even that scale
// leaves the proposal behind the best, nothing is to be gained.
bool is_hopeless(const Tree& tree, const Proposal& proposal, const Budget& budget);

// What becomes of the answer of a proposer: the last event of the tree, but where a text was skipped before.
enum class Taken { kNoted, kSpent, kSkipped, kAdded };
Taken take(Tree& tree, const Decision& decision, std::optional<Proposal> answer, const Budget& budget);

struct Observer {
  std::function<void(const Tree&, const Node&)> finished;  // after each trial
  std::function<void(const Proposal&)> skipped;            // not tried: see Budget::hopeless
  std::function<void(const Error&)> refused;               // the proposer ended, but not the run
  std::function<void(const Error&)> failed;                // the same of the policy
  // Each event by its number, before what follows from it is begun; an error ends the search.
  std::function<Status(const Tree&, size_t)> recorded;
};

struct Participants {
  Policy& policy;
  Proposer& proposer;
  Evaluator& evaluator;
};

// Results of the trials of a search. Those that an earlier proposer had in flight when it began are none of
// them.
struct Tally {
  Watch watch;
  std::vector<int> late;

  void add(int node, const Timed& best);
};

// A search that is taken forward trial by trial, so that something else may come in between, as another problem's
// trial. What the tree has in flight is started first: it was interrupted there. The tree keeps everything also when an
// error is returned. All that it is given outlives it.
class Search {
 public:
  Search(Tree& tree, const Participants& with, const Budget& budget, int lookahead, const Observer& observer);

  // Starts what may be in flight, then waits for one trial; or says why there is none. A search that has stopped stays
  // stopped, and proposes nothing once it has enough. `interrupted` is asked first: the trial in hand is finished.
  Result<std::optional<Stop>> step(const std::function<bool()>& interrupted);

 private:
  Status fill();
  Result<std::optional<Decision>> next();
  Status finish_one();
  std::optional<Stop> enough(const std::function<bool()>& interrupted) const;
  std::optional<Stop> nothing_to_wait_for() const;
  Status end_at(const Error& error);
  Status end_policy_at(const Error& error);
  Result<const Node*> measure_again(const Decision& decision);
  Result<const Node*> derive(const Decision& decision);
  Status record();

  Tree& tree_;
  const Participants with_;
  const Budget budget_;
  const int lookahead_;  // trials in flight, so that compiling overlaps measuring
  const Observer& observer_;
  Deadline deadline_;
  size_t recorded_;              // events that the observer was told
  std::optional<Tally> tally_;   // nothing until the first step
  std::optional<Code> refused_;  // why the proposer goes no further
  bool policy_failed_ = false;
  std::optional<Stop> stopped_;
};

// Runs until a stop holds.
Result<Stop> run(Tree& tree, const Participants& with, const Budget& budget, int lookahead, const Observer& observer,
                 const std::function<bool()>& interrupted);

}  // namespace solstice::search
