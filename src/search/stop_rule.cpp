#include "search/stop_rule.h"

namespace solstice::search {

std::vector<const char*> enum_names(Stop) {
  return {"trials",      "time",        "exhausted",       "near_bound", "patience",      "lost",
          "interrupted", "over_budget", "proposer_failed", "shared",     "little_to_gain"};
}

Watch::Watch(const StopRule& rule, Seconds original, Seconds bound, Seconds best)
    : rule_(rule), original_(original), bound_(bound), best_(best), outlook_(best.value > 0 ? best : original, bound, usual_scheduling()) {}

void Watch::add(Seconds best) {
  without_gain_ = is_gain(best_, best) ? 0 : without_gain_ + 1;
  best_ = best;
  outlook_.add(1, best);
}

std::optional<Stop> Watch::ends() const {
  if (trials() < rule_.least) return std::nullopt;
  if (near()) return Stop::kNearBound;
  if (rule_.roi && outlook_.gain() < *rule_.roi) return Stop::kLittleToGain;
  if (rule_.window && beats_original() && without_gain_ >= *rule_.window) return Stop::kPatience;
  return std::nullopt;
}

bool Watch::near() const {
  if (!rule_.eps || bound_.value <= 0) return false;
  const Seconds there = beats_original() || original_.value <= 0 ? best_ : original_;
  return there.value > 0 && there <= bound_ * (1 + *rule_.eps);
}

}  // namespace solstice::search
