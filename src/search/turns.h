// Turns: searches of several problems that share one budget, while they run or as they were recorded.
//
// `log-gain` is the scheduler of scheduler.h. `fixed` gives every problem the same share of the budget, one problem
// after the other; what one leaves goes to nobody. Whoever searches says what came of each trial; the same results give
// the same turns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/scheduler.h"
#include "search/spent.h"

namespace solstice::search {

// Of the whole: trials, the time that they take, or as much as there is.
struct TotalBudget {
  std::optional<int> trials = {};
  std::optional<double> seconds = {};
};

// The same for each of so many problems.
TotalBudget share_of(const TotalBudget& total, size_t problems);

struct Schedule {
  std::optional<Values> log_gain = {};  // its parameters; absent: `fixed`
};
// "fixed", or what parse_scheduling() reads. Errors: bad_argument.
Result<Schedule> parse_schedule(std::string_view text);

// The next trial.
struct Turn {
  size_t problem = 0;
  bool floor = false;  // the schedule owes it to the problem, whatever it promises
  double gain = 0;     // expected, a natural logarithm
  double worth = 0;    // over its expected cost; infinite where that is 0
};
// "expected 0.8 % per second"; "one of its first trials".
std::string text_of(const Turn& turn, Currency currency);

class Turns {
 public:
  // `currency`: of the costs by which `log-gain` weighs gains.
  Turns(Schedule schedule, TotalBudget total, Currency currency);

  // All problems, before the first turn. Returns its place: 0, 1, ...
  size_t add(Seconds original, Seconds bound);
  // The problem's part so far is spent, and of no account for what it gets from now on.
  void begin_anew(size_t problem, Seconds original, Seconds bound);
  // Of `problem` a trial came in: what it cost, and the best since.
  void landed(size_t problem, const Spent& cost, const Timed& best);
  void close(size_t problem);                       // it has nothing more to try
  void spend(const Spent& cost) { all_ += cost; }   // of the budget, by somebody who has no turn here
  void reserve(int shares) { reserved_ = shares; }  // of the fixed split, for problems that come later

  std::optional<Turn> next() const;  // nothing: all should stop
  bool spent() const;                // the budget is

  const Spent& had(size_t problem) const { return had_[problem]; }
  const Spent& all() const { return all_; }
  TotalBudget share() const { return share_of(total_, outlooks_.size()); }  // of the fixed split

 private:
  TotalBudget unreserved() const;
  std::optional<Turn> next_fixed() const;
  std::optional<Turn> next_by_gain() const;

  Schedule schedule_;
  TotalBudget total_;
  Currency currency_;
  std::vector<Outlook> outlooks_;
  std::vector<Spent> had_;
  Spent all_;
  int reserved_ = 0;
};

}  // namespace solstice::search
