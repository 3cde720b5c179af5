// Numbers that a seed gives, the same with every compiler and standard library.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace solstice::random_kernels {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t next() {
    uint64_t x = (state_ += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t least, int64_t most) { return least + static_cast<int64_t>(next() % static_cast<uint64_t>(most - least + 1)); }
  bool percent(int chance) { return below(100) < chance; }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int>(choices.size())))];
  }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<int>(choices.size()))];
  }
  const char* word(std::initializer_list<const char*> choices) { return of(choices); }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[static_cast<size_t>(below(static_cast<int>(i)))]);
  }

 private:
  uint64_t state_;
};

// A seed of its own for each part of something.
inline uint64_t seed_of(uint64_t seed, std::string_view part, uint64_t number) {
  uint64_t key = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : part) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return Random(Random(seed ^ key).next() + number).next();
}

}  // namespace solstice::random_kernels
