// Random choices, by numbers that a seed gives (base/random.h).
#pragma once

#include <initializer_list>
#include <vector>

#include "base/random.h"

namespace solstice::random_kernels {

class Random : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;

  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(next() % static_cast<uint64_t>(most - least + 1));
  }
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
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<size_t>(below(static_cast<int>(i)))]);
  }
};

}  // namespace solstice::random_kernels
