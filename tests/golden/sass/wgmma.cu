// Two products on one accumulator: `drained` uses it in between, `drained_each_round` waits for all after both,
// `pipelined` leaves the last one under way.
#include <cstdint>
#define WGMMA(acc)                                                                                                  \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;\n"          \
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])                                             \
               : "l"(a), "l"(b))

extern "C" __global__ void drained_each_round(float* y, uint64_t a, uint64_t b, int n) {
  float c[4] = {0, 0, 0, 0};
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
    WGMMA(c);
    WGMMA(c);
    a += 64;
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  }
  for (int i = 0; i < 4; ++i) y[i] = c[i];
}

extern "C" __global__ void drained(float* y, uint64_t a, uint64_t b, int n) {
  float c[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    WGMMA(c);
    c[0] *= 2;
    WGMMA(c);
    a += 64;
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  for (int i = 0; i < 4; ++i) y[i] = c[i];
}

extern "C" __global__ void pipelined(float* y, uint64_t a, uint64_t b, int n) {
  float c[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    WGMMA(c);
    asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;\n" ::: "memory");
    a += 64;
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
  for (int i = 0; i < 4; ++i) y[i] = c[i];
}
