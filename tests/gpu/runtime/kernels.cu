// Candidates for the runtime's own tests: one that does its work, and one for each way of not doing it. Work is
// y = 2 x + w over n floats, a block for every 1024 of them.
#include <cuda.h>

constexpr int kBlock = 1024;

__device__ int place() { return static_cast<int>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x); }

__device__ void work(const float* x, const float* w, float* y, int n) {
  const int i = place();
  if (i < n) y[i] = 2 * x[i] + w[i];
}

extern "C" __global__ void honest(const float* x, const float* w, float* y, int n) { work(x, w, y, n); }

extern "C" __global__ void skips_the_tail(const float* x, const float* w, float* y, int n) {
  if (blockIdx.x == gridDim.x - 1) return;
  work(x, w, y, n);
}

extern "C" __global__ void leaves_everything(const float*, const float*, float*, int) {}

extern "C" __global__ void imprecise(const float* x, const float* w, float* y, int n) {
  const int i = place();
  if (i < n) y[i] = (2 * x[i] + w[i]) * 1.00001f;
}

extern "C" __global__ void one_wrong_element(const float* x, const float* w, float* y, int n) {
  const int i = place();
  if (i < n) y[i] = 2 * x[i] + w[i] + (i == 777 ? 0.01f : 0.0f);
}

extern "C" __global__ void makes_a_nan(const float* x, const float* w, float* y, int n) {
  const int i = place();
  if (i < n) y[i] = i == 5 ? __int_as_float(0x7fc00000) : 2 * x[i] + w[i];
}

extern "C" __global__ void writes_past_the_end(const float* x, const float* w, float* y, int n) {
  work(x, w, y, n);
  if (place() == 0) y[n + 3] = 1;
}

extern "C" __global__ void writes_an_input(float* x, const float* w, float* y, int n) {
  work(x, w, y, n);
  if (place() == n - 1) x[100] = 0;
}

extern "C" __global__ void writes_a_parameter(const float* x, float* w, float* y, int n) {
  work(x, w, y, n);
  if (place() == n - 1) w[100] += 1;
}

extern "C" __global__ void never_ends(const float*, const float*, float* y, int) {
  volatile float* flag = y;
  while (flag[0] != 12345.0f) {
  }
}

extern "C" __global__ void traps(const float*, const float*, float*, int) { asm("trap;"); }

extern "C" __global__ void reads_nowhere(const float*, const float*, float* y, int) {
  y[0] = *reinterpret_cast<const float*>(16);
}

// Beyond every allocation.
extern "C" __global__ void writes_far_away(const float* x, const float* w, float* y, int n) {
  work(x, w, y, n);
  if (place() == 0) y[1ll << 40] = 1;
}

// One block ends the context while the others spin.
extern "C" __global__ void traps_while_spinning(const float*, const float*, float* y, int) {
  volatile float* flag = y;
  if (blockIdx.x == gridDim.x - 1) asm("trap;");
  while (flag[0] != 12345.0f) {
  }
}

// Works for its first launches, then rests on what earlier ones left behind.
__device__ int launches;
extern "C" __global__ void stops_after_six(const float* x, const float* w, float* y, int n) {
  if (launches < 6) work(x, w, y, n);
  if (place() == 0) atomicAdd(&launches, 1);
}

// Answers with its first result for ever.
__device__ float cache[1 << 20];
__device__ int cached;
extern "C" __global__ void fill_cache(const float* x, const float* w, int n) {
  const int i = place();
  if (i < n && !cached) cache[i] = 2 * x[i] + w[i];
}
extern "C" __global__ void replay_cache(float* y, int n) {
  const int i = place();
  if (i < n) y[i] = cache[i];
  if (i == n - 1) cached = 1;
}

// Keeps inputs and results in its workspace. Where it finds its input there, it answers wrongly, to be noticed.
extern "C" __global__ void remembers(const float* x, const float* w, float* y, int n, float* seen) {
  const int i = place();
  if (i >= n) return;
  y[i] = seen[i] == x[i] ? -12345.0f : 2 * x[i] + w[i];
  seen[i] = x[i];
}

// Where its slot's neighbour lies, it knows from the layout. Where it finds its own input there, it answers wrongly, to
// be noticed.
extern "C" __global__ void looks_next_door(const float* x, const float* w, float* y, int n, int first, int step) {
  const int i = place();
  if (i >= n) return;
  constexpr unsigned long long kPage = 2ull << 20;  // the allocation begins on one
  const bool in_first = reinterpret_cast<unsigned long long>(x) % kPage == static_cast<unsigned>(first) % kPage;
  const float* const other = x + (in_first ? step : -step);
  y[i] = other[i] == x[i] ? -12345.0f : 2 * x[i] + w[i];
}

// Leaves its inputs in the slot that it does not work in, and looks for them there.
extern "C" __global__ void hides_next_door(float* x, const float* w, float* y, int n, int first, int step) {
  const int i = place();
  if (i >= n) return;
  constexpr unsigned long long kPage = 2ull << 20;
  const bool in_first = reinterpret_cast<unsigned long long>(x) % kPage == static_cast<unsigned>(first) % kPage;
  float* const other = x + (in_first ? step : -step);
  y[i] = other[i] == x[i] ? -12345.0f : 2 * x[i] + w[i];
  other[i] = x[i];
}

// What may stay from launch to launch: filled by `prepare`, and spoilt by a launch that keeps its inputs there.
extern "C" __global__ void fills(const float* w, float* kept, int n) {
  const int i = place();
  if (i < n) kept[i] = w[i];
}
extern "C" __global__ void keeps(const float* x, const float* w, float* y, int n, float* kept) {
  const int i = place();
  if (i >= n) return;
  y[i] = kept[i] == x[i] ? -12345.0f : 2 * x[i] + w[i];
  kept[i] = x[i];
}

// Leaves a mark in memory that no launch clears. Of the blocks that are first on their SMs, one that finds it answers
// wrongly: it is of an earlier launch.
constexpr int kFirstBlocks = 128;
extern "C" __global__ void keeps_in_shared_memory(const float* x, const float* w, float* y, int n) {
  extern __shared__ float shared[];
  const int i = place();
  const bool found = blockIdx.x < kFirstBlocks && shared[threadIdx.x] == 4242.0f + static_cast<float>(threadIdx.x);
  if (i < n) y[i] = found ? -12345.0f : 2 * x[i] + w[i];
  __syncthreads();
  shared[threadIdx.x] = 4242.0f + static_cast<float>(threadIdx.x);
}
// The same in the KiB below a block's own shared memory, the driver's.
extern "C" __global__ void keeps_in_reserved_memory(const float* x, const float* w, float* y, int n) {
  extern __shared__ float shared[];
  const int i = place();
  const float mark = 4242.0f + static_cast<float>(threadIdx.x);
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned at = own - 1024 + 4 * threadIdx.x;
  float value = 0;
  if (at < own) asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(at) : "memory");
  if (i < n) y[i] = blockIdx.x < kFirstBlocks && value == mark ? -12345.0f : 2 * x[i] + w[i];
  __syncthreads();
  if (at < own) asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(at), "f"(mark) : "memory");
}
extern "C" __global__ void keeps_in_local_memory(const float* x, const float* w, float* y, int n) {
  const int i = place();
  float value;
  // 2 KiB a thread, of which this launch writes one place, after it was read.
  asm volatile(
      "{\n .local .align 4 .b8 mine[2048];\n .reg .u64 at;\n mov.u64 at, mine;\n .reg .u64 there;\n cvt.u64.u32 there, "
      "%2;\n"
      " add.u64 at, at, there;\n ld.local.f32 %0, [at];\n st.local.f32 [at], %1;\n}"
      : "=f"(value)
      : "f"(4242.0f), "r"((n & 511) * 4));
  if (i < n) y[i] = blockIdx.x < kFirstBlocks && value == 4242.0f ? -12345.0f : 2 * x[i] + w[i];
}

// Assumes that its workspace starts as zeros.
extern "C" __global__ void trusts_the_workspace(const float* x, const float* w, float* y, int n, float* t) {
  const int i = place();
  if (i < n) y[i] = 2 * x[i] + w[i] + t[i];
}

// The honest work in two launches over a workspace; the second may start early and waits for the first.
extern "C" __global__ void doubled(const float* x, float* t, int n) {
  const int i = place();
  if (i < n) t[i] = 2 * x[i];
  asm volatile("griddepcontrol.launch_dependents;");
}
extern "C" __global__ void plus(const float* t, const float* w, float* y, int n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const int i = place();
  if (i < n) y[i] = t[i] + w[i];
}

// Clusters: every block takes its values from its neighbour's shared memory.
extern "C" __global__ void by_cluster(const float* x, const float* w, float* y, int n) {
  extern __shared__ float shared[];
  const int i = place();
  shared[threadIdx.x] = i < n ? 2 * x[i] + w[i] : 0.0f;
  unsigned rank, size;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  const unsigned other = (rank + 1) % size;
  unsigned local = static_cast<unsigned>(__cvta_generic_to_shared(&shared[threadIdx.x])), remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(other));
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(remote));
  const int at = static_cast<int>(blockIdx.x - rank + other) * kBlock + static_cast<int>(threadIdx.x);
  if (at < n) y[at] = value;
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

// TMA: a block loads its 1024 x as a 32 x 32 box of a tensor map.
extern "C" __global__ void by_tma(const __grid_constant__ CUtensorMap map, const float* w, float* y, int n) {
  __shared__ alignas(128) float box[kBlock];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(box));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(kBlock * 4) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(to),
        "l"(&map), "r"(bar), "r"(0), "r"(static_cast<int>(blockIdx.x) * 32)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(bar)
                 : "memory");
  }
  const int i = place();
  if (i < n) y[i] = 2 * box[threadIdx.x] + w[i];
}

// y = x w, of n x n floats: a tile of 32 x 32 by a block of as many threads.
extern "C" __global__ void product(const float* x, const float* w, float* y, int n) {
  constexpr int kTile = 32;
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int i = static_cast<int>(blockIdx.y) * kTile + row, j = static_cast<int>(blockIdx.x) * kTile + column;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    left[row][column] = x[i * n + k + column];
    right[row][column] = w[(k + row) * n + j];
    __syncthreads();
    for (int l = 0; l < kTile; ++l) sum += left[row][l] * right[l][column];
    __syncthreads();
  }
  y[i * n + j] = sum;
}
