// Data that lies along rows whose vectors begin elsewhere: weights begin at a row's first element, vectors are aligned
// to the row's data in memory. So a vector of weights lies in two that are aligned, which are read whole.
#pragma once

#include "math/vector.h"
#include "ptx/types.h"

namespace solstice::rows {

template <typename T, int V>
struct Window {
  math::Vec<T, V> low, high;
};

// True where the window of elements [at, at + V) lies in a tensor of kTotal elements; I: a signed integer.
template <int V, long long kTotal, typename I>
SOLSTICE_DEVICE bool has_window(I at) {
  const I first = at & ~I(V - 1);
  return first >= 0 && first <= static_cast<I>(kTotal - 2 * V);
}

template <int V, long long kTotal, typename I>
SOLSTICE_DEVICE I window_begin(I at) {
  const I last = static_cast<I>((kTotal / V - 2) * V);
  const I first = at & ~I(V - 1);
  return first < 0 ? 0 : first > last ? last : first;
}

// The two vectors around elements [at, at + V); others of the tensor where has_window says no.
template <int V, long long kTotal, typename T, typename I>
SOLSTICE_DEVICE Window<T, V> window_at(const T* tensor, I at) {
  static_assert(kTotal >= 2 * V);
  const I first = window_begin<V, kTotal>(at);
  return {math::load<V>(tensor + first), math::load<V>(tensor + first + V)};
}
// The same of a tensor in shared memory, at least around the window.
template <int V, long long kTotal, typename T, typename I>
SOLSTICE_DEVICE Window<T, V> held_window(const T* tensor, I at) {
  static_assert(kTotal >= 2 * V);
  const auto* const first = reinterpret_cast<const math::Vec<T, V>*>(tensor + window_begin<V, kTotal>(at));
  return {first[0], first[1]};
}

// Elements [at, at + V) of the window around them: both vectors shifted, by words and within words.
template <typename T, int V, typename I>
SOLSTICE_DEVICE math::Vec<T, V> from_window(const Window<T, V>& window, I at) {
  constexpr int kWords = V * static_cast<int>(sizeof(T)) / 4;
  static_assert(kWords * 4 == V * static_cast<int>(sizeof(T)));
  struct Both {
    u32 word[2 * kWords];
  };
  struct One {
    u32 word[kWords];
  };
  const int bytes = static_cast<int>(at & I(V - 1)) * static_cast<int>(sizeof(T));
  Both both = __builtin_bit_cast(Both, window);
#pragma unroll
  for (int step = kWords / 2; step > 0; step /= 2) {
    const bool moves = (bytes / 4 & step) != 0;
#pragma unroll
    for (int i = 0; i + step < 2 * kWords; ++i) both.word[i] = moves ? both.word[i + step] : both.word[i];
  }
  One out;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if constexpr (sizeof(T) < 4)
      out.word[i] = static_cast<u32>((static_cast<u64>(both.word[i + 1]) << 32 | both.word[i]) >> (bytes % 4 * 8));
    else
      out.word[i] = both.word[i];
  }
  return __builtin_bit_cast(math::Vec<T, V>, out);
}

// Elements of [first, first + V) that lie in [0, extent).
template <int V>
SOLSTICE_DEVICE int inside(int first, int extent) {
  const int begin = first < 0 ? -first : 0, end = extent - first < V ? extent - first : V;
  return end > begin ? end - begin : 0;
}

}  // namespace solstice::rows
