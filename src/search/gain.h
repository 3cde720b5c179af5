// Gains: improvements by more than a measurement's noise.
#pragma once

#include "search/tree.h"

namespace solstice::search {

// A candidate's time, how well it is known, and which node that is of. None: a time of 0.
struct Timed {
  Seconds time = {};
  double noise = 0;  // relative standard error; 0: not known
  int node = 0;
};
Timed timed(const Node& measured);

// Of the best so far: by more than kNoise, and by more than twice the standard error of the difference.
bool is_gain(const Timed& before, const Timed& after);

// The time that the next gain is counted from: of the last gain, so that small steps add up to one.
class Mark {
 public:
  explicit Mark(const Timed& from = {}) : at_(from), original_(from.node == 0 ? from.time : Seconds(0)) {}

  // The best of now. Returns whether it is a gain. A better measurement of the very candidate moves the mark without
  // one, and so does the next best where what the mark stands for was slower than it looked; above the original it
  // never is.
  bool move(const Timed& best);
  const Timed& at() const { return at_; }

 private:
  Timed at_;
  Seconds original_;  // 0: there is none
};

}  // namespace solstice::search
