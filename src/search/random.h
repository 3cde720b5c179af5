// The randomness of policies and made-up landscapes (base/random.h).
#pragma once

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace solstice::search {

class Random : public SplitMix64 {
 public:
  explicit Random(uint64_t seed) : SplitMix64(seed) {}
  // A stream of its own for each part of something.
  Random(uint64_t seed, std::string_view part, uint64_t number = 0)
      : SplitMix64(seed_of(SplitMix64(seed).next(), part, number)) {}

  bool chance(double p) { return uniform() < p; }
  double normal() {  // Box and Muller 1958
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
};

}  // namespace solstice::search
