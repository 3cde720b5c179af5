#include "llm/backoff.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace solstice::llm {

Seconds backoff(Seconds first, Seconds longest, int retry, uint64_t seed) {
  const double whole = std::min(first.value * std::exp2(retry - 1), longest.value);
  const double chance = SplitMix64(seed * 64 + static_cast<uint64_t>(retry)).uniform();
  return Seconds(whole * (1 - chance / 2));
}

}  // namespace solstice::llm
