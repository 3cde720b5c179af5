#include "search/stop_rule.h"

namespace solstice::search {

std::vector<const char*> enum_names(Stop) {
  return {"trials",         "time",         "exhausted",    "near_bound",      "window",
          "lost",           "interrupted",  "over_budget",  "proposer_failed", "shared",
          "little_to_gain", "policy_ended", "policy_failed"};
}

Watch::Watch(const StopRule& rule, Seconds original, Seconds bound, const Timed& best)
    : rule_(rule),
      original_(original),
      bound_(bound),
      best_(best.time),
      mark_(best),
      outlook_(best.time.value > 0 ? best : Timed{original}, bound, usual_scheduling()) {}

void Watch::add(const Timed& best) {
  without_gain_ = mark_.move(best) ? 0 : without_gain_ + 1;
  best_ = best.time;
  outlook_.add(1, best);
}

void Watch::learn(const Timed& best) {
  if (trials() == 0) {
    *this = Watch(rule_, original_, bound_, best);
    return;
  }
  mark_.move(best);
  best_ = best.time;
  outlook_.learn(best);
}

std::optional<Stop> Watch::ends() const {
  if (trials() < rule_.least) return std::nullopt;
  if (near()) return Stop::kNearBound;
  if (rule_.roi && outlook_.gain() < *rule_.roi) return Stop::kLittleToGain;
  if (rule_.window && beats_original() && without_gain_ >= *rule_.window) return Stop::kWindow;
  return std::nullopt;
}

bool Watch::near() const {
  if (!rule_.eps || bound_.value <= 0) return false;
  const Seconds there = beats_original() || original_.value <= 0 ? best_ : original_;
  return there.value > 0 && there <= bound_ * (1 + *rule_.eps);
}

}  // namespace solstice::search
