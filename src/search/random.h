// Numbers that a seed gives, the same with every compiler and standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace solstice::search {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // A stream of its own for each part of something.
  Random(uint64_t seed, std::string_view part, uint64_t number = 0) : state_(seed) {
    uint64_t key = 0xcbf29ce484222325u;  // FNV-1a
    for (const char c : part) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    state_ = Random(next() ^ key).next() + number;
    state_ = next();
  }

  uint64_t next() {
    uint64_t x = (state_ += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
  bool chance(double p) { return uniform() < p; }
  double normal() {  // Box and Muller 1958
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace solstice::search
