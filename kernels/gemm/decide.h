// Which of two launches runs: every block reads the guard words that the split pass left, and all reach one verdict.
#pragma once

#include "gemm/guard.h"

namespace solstice::gemm {

struct Guard {
  const u32* a;
  const u32* b;
  int count_a, count_b;
};

SOLSTICE_DEVICE u32 block_worst(const u32* words, int count, u32* scratch) {
  u32 word = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) word = __vmaxu4(word, words[i]);
  for (int d = 16; d > 0; d /= 2) word = __vmaxu4(word, __shfl_xor_sync(~0u, word, d));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = word;
  return word;
}

// True where the scaled split holds both operands. Called by all threads of a block.
SOLSTICE_DEVICE bool split_suffices(const Guard& guard) {
  __shared__ u32 words[2][32];
  block_worst(guard.a, guard.count_a, words[0]);
  block_worst(guard.b, guard.count_b, words[1]);
  __syncthreads();
  u32 a = 0, b = 0;
  for (int i = 0; i < static_cast<int>(blockDim.x) / 32; ++i) {
    a = __vmaxu4(a, words[0][i]);
    b = __vmaxu4(b, words[1][i]);
  }
  return range_suffices(a, b);
}

}  // namespace solstice::gemm
