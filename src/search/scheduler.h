// The scheduler of several problems under one budget: it gives out the next trial.
//
// Of each problem it is estimated what log-gain its next trial brings: the share of recent trials that gained, times a
// share of what is left down to the practical bound. Each has its floor of trials first; then the problem with the most
// expected gain for its cost is next, and one whose trials are not worth it any more gets none. Nothing but these
// figures is looked at: the same ones give the same choice. How large gains were is left out on purpose: the first jump
// away from the original says nothing of the next.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "search/gain.h"
#include "search/policy.h"

namespace solstice::search {

// Data of the scheduler `log-gain`.
const std::vector<Parameter>& scheduler_parameters();
Values usual_scheduling();
// "log-gain", "log-gain(floor=8, stop=0.01)". Errors: bad_argument, with what is legal.
Result<Values> parse_scheduling(std::string_view text);

// Prospects of a problem, as far as scheduling goes.
class Outlook {
 public:
  // Times of 0 are not known. `from`: the original, only what beats it is a gain; or the best of trials before these.
  Outlook(const Timed& from, Seconds bound, const Values& values);

  // A trial came in: what it cost, in any unit that is the same for all, and the best since.
  void add(double cost, const Timed& best);
  void learn(const Timed& best) { mark_.move(best); }  // of no trial of these
  void close() { open_ = false; }                      // it has nothing more to try

  double gain() const;  // expected of the next trial: a natural logarithm
  double cost() const;  // expected of the next trial: the mean so far
  double spent() const { return spent_; }
  double worth() const;  // the one over the other
  int trials() const { return trials_; }
  int since_gain() const { return since_gain_; }
  bool open() const { return open_; }

 private:
  double left() const;

  Mark mark_;
  Seconds bound_;
  double keep_, size_, unknown_;
  double gained_, tried_;  // recent trials, the latest most
  double spent_ = 0;
  int trials_ = 0, since_gain_ = 0;
  bool open_ = true;
};

// The index of the problem that gets the next trial; nothing: all should stop.
std::optional<size_t> next_problem(const std::vector<Outlook>& problems, const Values& values);

}  // namespace solstice::search
