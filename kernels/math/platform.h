// The surroundings of generated code: on the device nothing but integer names; on the host (tests run
// generated kernels there) the words of CUDA, thread indices and barriers, given by host/emulator.h.
#pragma once

#include "ptx/types.h"

#if defined(__CUDACC__)
#define SOLSTICE_KERNEL extern "C" __global__
#define SOLSTICE_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define SOLSTICE_RESTRICT __restrict__
#else
#include "host/emulator.h"
#define SOLSTICE_KERNEL extern "C"
#define SOLSTICE_BOUNDS(threads, blocks)
#define SOLSTICE_RESTRICT
#endif

namespace solstice::math {

// Dynamic shared memory of the block, 128-byte aligned.
SOLSTICE_DEVICE unsigned char* shared_bytes() {
#if defined(__CUDACC__)
  extern __shared__ __align__(128) unsigned char solstice_shared[];
  return solstice_shared;
#else
  return host::shared_bytes();
#endif
}

}  // namespace solstice::math
