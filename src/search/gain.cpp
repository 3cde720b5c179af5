#include "search/gain.h"

#include <algorithm>
#include <cmath>

namespace solstice::search {

Timed timed(const Node& measured) { return {measured.measurement->time, noise_of(*measured.measurement), measured.id}; }

bool is_gain(const Timed& before, const Timed& after) {
  if (after.time.value <= 0 || before.time.value <= 0) return after.time.value > 0;
  return after.time < before.time * (1 - std::max(kNoise, 2 * std::hypot(before.noise, after.noise)));
}

bool Mark::move(const Timed& best) {
  const bool gained = is_gain(at_, best);
  const bool known_better = best.node > 0 && best.node == at_.node;
  const bool taken_back = best.time > at_.time;
  if (gained || known_better || taken_back) at_ = best;
  if (original_.value > 0 && at_.time > original_) at_ = {original_};
  return gained;
}

}  // namespace solstice::search
