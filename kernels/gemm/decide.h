// Which of two launches runs: every block reads the guard words that the split pass left, and all reach one
// verdict.
#pragma once

#include "gemm/guard.h"
#include "ptx/sync.h"

// part: guard

namespace solstice::gemm {

struct Guard {
  const GuardWord* a;
  const GuardWord* b;
  int count_a, count_b;
  const GuardWord* second_b = nullptr;  // of another B beside it
  int count_second_b = 0;
};

SOLSTICE_DEVICE GuardWord worse(GuardWord x, GuardWord y) {
  return {__vmaxu4(x.all, y.all), __vmaxu4(x.lossy, y.lossy)};
}

SOLSTICE_DEVICE GuardWord warp_worst(GuardWord word) {
  for (int d = 16; d > 0; d /= 2)
    word = worse(word, {__shfl_xor_sync(~0u, word.all, d), __shfl_xor_sync(~0u, word.lossy, d)});
  return word;
}

SOLSTICE_DEVICE void block_worst(const GuardWord* words, int count, GuardWord* scratch) {
  GuardWord word{0, 0};
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const uint2 found = __ldcg(reinterpret_cast<const uint2*>(words + i));
    word = worse(word, {found.x, found.y});
  }
  word = warp_worst(word);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = word;
}

// True where the scaled split holds all operands: two Bs are one of more columns. Called by all threads of a block,
// which has 768 bytes of dynamic shared memory or more.
SOLSTICE_DEVICE bool split_suffices(const Guard& guard) {
  GuardWord* words = reinterpret_cast<GuardWord*>(ptx::dynamic_shared());
  block_worst(guard.a, guard.count_a, words);
  block_worst(guard.b, guard.count_b, words + 32);
  if (guard.second_b) block_worst(guard.second_b, guard.count_second_b, words + 64);
  __syncthreads();
  GuardWord a{0, 0}, b{0, 0};
  for (int i = 0; i < static_cast<int>(blockDim.x) / 32; ++i) {
    a = worse(a, words[i]);
    b = worse(b, words[32 + i]);
    if (guard.second_b) b = worse(b, words[64 + i]);
  }
  return range_suffices(a, b);
}

}  // namespace solstice::gemm
