// A run's figures as `solstice compare` sets them beside those of others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/replay/recorded.h"
#include "store/store.h"

namespace solstice::flow {

// After 0, 1, 2, ... measurements of a search.
struct BestSoFar {
  Seconds spent;                // wall time of these trials
  std::optional<Seconds> best;  // the original's until something is faster; absent where neither is known

  static auto fields() {
    return std::make_tuple(field("spent", &BestSoFar::spent, "seconds of these trials"),
                           field("best", &BestSoFar::best, "seconds; the original's until something is faster"));
  }
};

// Cost of reaching a goal.
struct Reached {
  double trials = 0;  // measurements
  Seconds spent;

  static auto fields() {
    return std::make_tuple(field("trials", &Reached::trials, "measurements that had come in"),
                           field("spent", &Reached::spent, "seconds of these trials"));
  }
};

// A run's problem, options and place: runs that differ here do not compare.
struct RunSetting {
  std::string id, problem, problem_key, options_key;
  std::vector<std::string> command;
  std::string machine, device;
  std::map<std::string, std::string> versions;
};

// Who searched: runs of one such group are set beside those of another.
struct RunLeader {
  std::string policy;
  int64_t seed = 1;
  std::string agent;  // the language model that took part, and how; "": none did, or the run is not finished
};

// A run's end, from the store.
struct RunEnd {
  std::string ended, reason;       // the outcome of a finished run, else its state; why
  std::optional<double> headline;  // speedup of `forward` over `forward`
  std::optional<Seconds> took;     // from beginning to end, pauses included
};

struct ComparedRun : RunSetting, RunLeader, RunEnd {
  std::optional<Seconds> original;    // as the search timed it
  std::optional<Seconds> best;        // of the fastest usable trial
  bool predicted = false;             // that time is a cost model's
  std::optional<double> speedup;      // original / best
  int trials = 0;                     // that came in
  int proposed = 0, skipped = 0;      // with those that did not; proposals that were not tried
  std::map<std::string, int> states;  // number of trials by state; "without a result"
  Seconds spent;                      // wall time of the trials
  int64_t tokens = 0;                 // of all proposals
  std::vector<BestSoFar> curve;       // empty where the run keeps no search
  std::optional<Reached> reached;     // the goal of the comparison
  std::string program;                // of the fastest usable trial

  static auto fields() {
    using T = ComparedRun;
    return std::make_tuple(
        field("id", inherited(&T::id), "run"), field("problem", inherited(&T::problem), "name"),
        field("problem_key", inherited(&T::problem_key), "hash of all that defines the problem"),
        field("options_key", inherited(&T::options_key), "hash of the options that change the outcome"),
        field("command", inherited(&T::command), "argv"),
        field("machine", inherited(&T::machine), "machine description"),
        field("device", inherited(&T::device), "the GPU's name, or model"),
        field("versions", inherited(&T::versions), "of everything that matters"),
        field("policy", inherited(&T::policy), "with parameters"), field("seed", inherited(&T::seed), "of the policy"),
        field("agent", inherited(&T::agent), "language model that took part, and how"),
        field("ended", inherited(&T::ended), "outcome of a finished run, else its state"),
        field("reason", inherited(&T::reason), "why"),
        field("headline", inherited(&T::headline), "speedup of forward over forward"),
        field("took", inherited(&T::took), "seconds from beginning to end"),
        field("original", &T::original, "seconds, as the search timed it"),
        field("best", &T::best, "seconds of the fastest usable trial"),
        field("predicted", &T::predicted, "by a cost model"), field("speedup", &T::speedup, "original over best"),
        field("trials", &T::trials, "that came in"),
        field("proposed", &T::proposed, "trials, with those without a result"),
        field("skipped", &T::skipped, "proposals that were not tried"),
        field("states", &T::states, "how many trials came how far"), field("spent", &T::spent, "seconds of the trials"),
        field("tokens", &T::tokens, "of all proposals"), field("curve", &T::curve, "after 0, 1, 2, ... measurements"),
        field("reached", &T::reached, "when it reached the goal"),
        field("program", &T::program, "of the fastest usable trial"));
  }

 private:
  // A field list is of one struct.
  template <typename M, typename Base>
  static constexpr M ComparedRun::*inherited(M Base::*member) {
    return member;
  }
};

// `slowest`: of the trials of all runs that are compared, for searches whose original was not timed. Of a run without a
// search only what its record and its trials say is known. Errors: bad_argument where its events do not fit each other.
Result<ComparedRun> compared_run(const store::LoadedRun& loaded, Seconds slowest);

Seconds slowest_trial(const store::LoadedRun& loaded);  // of the usable ones; 0: there is none

}  // namespace solstice::flow
