// Which of two launches runs: every block reads the guard words that the split pass left, and all reach one
// verdict.
#pragma once

#include "gemm/guard.h"
#include "ptx/sync.h"

namespace solstice::gemm {

struct Guard {
  const u32* a;
  const u32* b;
  int count_a, count_b;
};

SOLSTICE_DEVICE void block_worst(const u32* words, int count, u32* scratch) {
  u32 word = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) word = __vmaxu4(word, __ldcg(words + i));
  for (int d = 16; d > 0; d /= 2) word = __vmaxu4(word, __shfl_xor_sync(~0u, word, d));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = word;
}

// True where the scaled split holds both operands. Called by all threads of a block,
// which has 256 bytes of dynamic shared memory or more.
SOLSTICE_DEVICE bool split_suffices(const Guard& guard) {
  u32* words = reinterpret_cast<u32*>(ptx::dynamic_shared());
  block_worst(guard.a, guard.count_a, words);
  block_worst(guard.b, guard.count_b, words + 32);
  __syncthreads();
  u32 a = 0, b = 0;
  for (int i = 0; i < static_cast<int>(blockDim.x) / 32; ++i) {
    a = __vmaxu4(a, words[i]);
    b = __vmaxu4(b, words[32 + i]);
  }
  return range_suffices(a, b);
}

}  // namespace solstice::gemm
