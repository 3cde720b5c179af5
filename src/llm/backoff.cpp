#include "llm/backoff.h"

#include <algorithm>
#include <cmath>

namespace solstice::llm {
namespace {

// Splitmix64 (Steele, Lea and Flood 2014): one well-mixed number of any seed.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

Seconds backoff(Seconds first, Seconds longest, int retry, uint64_t seed) {
  const double whole = std::min(first.value * std::exp2(retry - 1), longest.value);
  const double chance = static_cast<double>(mixed(seed * 64 + static_cast<uint64_t>(retry)) >> 11) * 0x1p-53;
  return Seconds(whole * (1 - chance / 2));
}

}  // namespace solstice::llm
