// Vectors of stored elements, moved in pieces of up to 16 bytes. A pointer must be aligned to min(16, sizeof(Vec)).
//
// kStream marks data that is touched once: it is the first to leave L1 and L2, so that it does not push out what is
// read again (row statistics, biases, weights).
#pragma once

#include "math/storage.h"

namespace solstice::math {

template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T v[N];
};

enum Hint { kPlain, kStream };

#if defined(__CUDACC__)
// Moves of 1, 2, 4, 8 and 16 bytes.
template <int kBytes>
struct Piece;
#define SOLSTICE_PIECE(bytes, type, loader, streamer)                           \
  template <>                                                                   \
  struct Piece<bytes> {                                                         \
    using Type = type;                                                          \
    static SOLSTICE_DEVICE Type plain(const Type* p) { return loader(p); }      \
    static SOLSTICE_DEVICE Type stream(const Type* p) { return streamer(p); }   \
    static SOLSTICE_DEVICE void store(Type* p, Type v) { *p = v; }              \
    static SOLSTICE_DEVICE void store_stream(Type* p, Type v) { __stcs(p, v); } \
  };
SOLSTICE_PIECE(1, unsigned char, __ldg, __ldcs)
SOLSTICE_PIECE(2, unsigned short, __ldg, __ldcs)
SOLSTICE_PIECE(4, unsigned, __ldg, __ldcs)
SOLSTICE_PIECE(8, uint2, __ldg, __ldcs)
SOLSTICE_PIECE(16, uint4, __ldg, __ldcs)
#undef SOLSTICE_PIECE

template <typename V>
union Pieces {
  static constexpr int kBytes = sizeof(V) < 16 ? sizeof(V) : 16;
  static constexpr int kCount = sizeof(V) / kBytes;
  using Move = Piece<kBytes>;
  V whole;
  typename Move::Type piece[kCount];
  SOLSTICE_DEVICE Pieces() {}
};
#endif

template <int N, Hint kHint = kPlain, typename T>
SOLSTICE_DEVICE Vec<T, N> load(const T* from) {
#if defined(__CUDACC__)
  using P = Pieces<Vec<T, N>>;
  P p;
#pragma unroll
  for (int i = 0; i < P::kCount; ++i) {
    const auto* source = reinterpret_cast<const typename P::Move::Type*>(from) + i;
    p.piece[i] = kHint == kStream ? P::Move::stream(source) : P::Move::plain(source);
  }
  return p.whole;
#else
  return *reinterpret_cast<const Vec<T, N>*>(from);
#endif
}

template <Hint kHint = kPlain, typename T, int N>
SOLSTICE_DEVICE void store(T* to, const Vec<T, N>& value) {
#if defined(__CUDACC__)
  using P = Pieces<Vec<T, N>>;
  P p;
  p.whole = value;
#pragma unroll
  for (int i = 0; i < P::kCount; ++i) {
    auto* target = reinterpret_cast<typename P::Move::Type*>(to) + i;
    if constexpr (kHint == kStream)
      P::Move::store_stream(target, p.piece[i]);
    else
      P::Move::store(target, p.piece[i]);
  }
#else
  *reinterpret_cast<Vec<T, N>*>(to) = value;
#endif
}

// One element, widened.
template <Hint kHint = kPlain, typename T>
SOLSTICE_DEVICE auto load_one(const T* from) {
  return widen(load<1, kHint>(from).v[0]);
}

template <Hint kHint = kPlain, typename T, typename V>
SOLSTICE_DEVICE void store_one(T* to, V value) {
  Vec<T, 1> one;
  one.v[0] = narrow<T>(value);
  store<kHint>(to, one);
}

}  // namespace solstice::math
