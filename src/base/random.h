// Numbers that a seed gives, the same with every compiler and standard library, which std's distributions are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace solstice {

// SplitMix64 (Steele, Lea, Flood 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t x = (state_ += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)

 private:
  uint64_t state_;
};

// A seed of its own for each part of something: of `seed`, its name (by FNV-1a) and a number.
inline uint64_t seed_of(uint64_t seed, std::string_view part, uint64_t number) {
  uint64_t key = 0xcbf29ce484222325u;
  for (const char c : part) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return SplitMix64(SplitMix64(seed ^ key).next() + number).next();
}

}  // namespace solstice
