// Overwrites what a launch leaves where no pointer leads: shared memory with the driver's part of it, registers and
// local memory, which the next launch would find as they are. One block of 1024 threads for each half of an SM, all of
// them there at once: src/runner/scrub.cpp launches as many as fit. Twin: kScrubbedLocalBytes of src/record/plan.h.

constexpr int kLocalWords = 4096 / 4;
constexpr int kHeld = 20;                   // registers that a thread fills: of 32, the rest is needed
constexpr unsigned kPattern = 0xffffffffu;  // NaN
constexpr long long kPatience = 1ll << 30;  // clocks; a block that waits in vain ends, and `arrived[1]` counts it

// The driver's part of a block's shared memory lies below the block's own: a computed address reaches it.
__device__ __forceinline__ void fill_reserved(const unsigned* own) {
  const auto end = static_cast<unsigned>(__cvta_generic_to_shared(own));
  for (unsigned at = 4 * threadIdx.x; at < end; at += 4 * 1024)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(kPattern) : "memory");
}

extern "C" __global__ void __launch_bounds__(1024, 2) scrub(unsigned* arrived, int shared_words) {
  extern __shared__ unsigned shared[];
  for (int i = threadIdx.x; i < shared_words; i += 1024) shared[i] = kPattern;
  fill_reserved(shared);
  volatile unsigned local[kLocalWords];
  for (int i = 0; i < kLocalWords; ++i) local[i] = kPattern;
  __syncthreads();
  unsigned held[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) held[i] = static_cast<volatile unsigned*>(shared)[threadIdx.x + i];
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    const long long begin = clock64();
    bool all_here = false;
    while (!all_here && clock64() - begin < kPatience)
      all_here = *static_cast<volatile unsigned*>(arrived) >= gridDim.x;
    if (!all_here) atomicAdd(arrived + 1, 1u);
  }
  __syncthreads();
  unsigned all = kPattern;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) all &= held[i];
  if (all != kPattern) *arrived = 0;  // never: it keeps them until here
}
