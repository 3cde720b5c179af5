// Slots of one thread: it copies its vectors of the next tiles into shared memory (cp.async), where it alone finds them
// again. They take no registers, keep their storage format, and need no barriers.
#pragma once

#include "math/vector.h"
#if defined(__CUDACC__)
#include "copy/async.h"
#include "ptx/sync.h"
#endif

namespace solstice::pipeline {

// A thread's vectors of a tile; kThreads a block.
template <typename V, int kThreads>
class ThreadSlots {
 public:
  SOLSTICE_DEVICE explicit ThreadSlots(void* tile) : first_(static_cast<V*>(tile) + threadIdx.x) {}
  SOLSTICE_DEVICE V& operator[](int u) const { return first_[u * kThreads]; }

 private:
  V* first_;
};

// `to` is in shared memory. Vectors of less than 4 bytes, which cp.async does not know, arrive at once.
template <typename T, int N>
SOLSTICE_DEVICE void fetch(math::Vec<T, N>& to, const T* from) {
#if defined(__CUDACC__)
  constexpr int kBytes = sizeof(to) < 16 ? sizeof(to) : 16;
  if constexpr (kBytes >= 4) {
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(to)) / kBytes; ++i)
      copy::load_async<kBytes>(ptx::shared_address(&to) + i * kBytes, reinterpret_cast<const char*>(from) + i * kBytes);
    return;
  }
#endif
  to = math::load<N>(from);
}

template <typename T, int N>
SOLSTICE_DEVICE math::Vec<T, N> take(const math::Vec<T, N>& slot) {
#if defined(__CUDACC__)
  using P = math::Pieces<math::Vec<T, N>>;
  P p;
#pragma unroll
  for (int i = 0; i < P::kCount; ++i) p.piece[i] = reinterpret_cast<const typename P::Move::Type*>(&slot)[i];
  return p.whole;
#else
  return slot;
#endif
}

// Ends a group of fetches: those since the last call belong together.
SOLSTICE_DEVICE void commit() {
#if defined(__CUDACC__)
  copy::async_commit();
#endif
}
// Until all but the last kPending of them are there.
template <int kPending>
SOLSTICE_DEVICE void wait() {
#if defined(__CUDACC__)
  copy::async_wait<kPending>();
#endif
}

}  // namespace solstice::pipeline
