// Runs a kernel's grid on the host: every CUDA thread is a fiber, a barrier switches to the next one. It checks index
// maps, phases, reductions and barriers of generated kernels without a GPU; it knows nothing of speed or of races
// between barriers.
//
// launch(kernel, arguments, grid, block, cluster, shared_bytes) runs clusters one after another; arguments are the
// kernel's pointer parameters in order. A barrier that not all threads reach ends the process with a message.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

struct HostDim3 {
  unsigned x = 0, y = 0, z = 0;
};
inline HostDim3 threadIdx, blockIdx, blockDim, gridDim;

namespace solstice::host {

struct Barrier {
  int arrived = 0;
  unsigned generation = 0;
};

inline constexpr size_t kStackBytes = 64 * 1024;

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack;  // not filled: most of it is never touched
  int thread = 0;
  int rank = 0;  // block in the cluster
  bool done = false;
};

// One cluster of blocks in flight.
struct Team {
  int threads = 0;
  int ranks = 0;
  unsigned first_block = 0;
  std::vector<Fiber> fibers;
  std::vector<std::unique_ptr<unsigned char[]>> shared;
  std::vector<Barrier> warp_barriers, block_barriers;
  Barrier cluster_barrier;
  std::vector<unsigned long long> slots;  // a shuffle's values
  ucontext_t scheduler{};
  Fiber* current = nullptr;
  long long waits = 0;  // barriers passed or threads ended: no change over a round is a deadlock
};
inline Team* team = nullptr;

inline void yield() { swapcontext(&team->current->context, &team->scheduler); }

inline void wait(Barrier& barrier, int count) {
  const unsigned generation = barrier.generation;
  if (++barrier.arrived == count) {
    barrier.arrived = 0;
    ++barrier.generation;
    ++team->waits;
    return;
  }
  while (barrier.generation == generation) yield();
}

inline int warps() { return (team->threads + 31) / 32; }
inline int warp_size(int warp) { return team->threads - warp * 32 < 32 ? team->threads - warp * 32 : 32; }
inline int block_rank() { return team->current->rank; }
inline unsigned char* shared_bytes(int rank) {
  unsigned char* raw = team->shared[static_cast<size_t>(rank)].get();
  return raw + (128 - reinterpret_cast<size_t>(raw) % 128) % 128;
}
inline unsigned char* shared_bytes() { return shared_bytes(block_rank()); }

inline void sync_warp() {
  const int warp = team->current->thread / 32;
  wait(team->warp_barriers[static_cast<size_t>(block_rank() * warps() + warp)], warp_size(warp));
}
inline void sync_block() { wait(team->block_barriers[static_cast<size_t>(block_rank())], team->threads); }
inline void sync_cluster() { wait(team->cluster_barrier, team->threads * team->ranks); }

template <typename T>
T shuffle(T value, int source_lane) {
  static_assert(sizeof(T) <= 8);
  const size_t base = static_cast<size_t>(block_rank()) * static_cast<size_t>(team->threads) +
                      static_cast<size_t>(team->current->thread / 32) * 32;
  unsigned long long bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  team->slots[base + static_cast<size_t>(team->current->thread % 32)] = bits;
  sync_warp();
  bits = team->slots[base + static_cast<size_t>(source_lane)];
  sync_warp();
  T out;
  std::memcpy(&out, &bits, sizeof(T));
  return out;
}

struct Job {
  void (*call)(const void* kernel, void** arguments) = nullptr;
  const void* kernel = nullptr;
  void** arguments = nullptr;
};
inline Job job;

inline void fiber_main() {
  job.call(job.kernel, job.arguments);
  team->current->done = true;
  ++team->waits;
  yield();
}

inline void resume(Fiber& fiber) {
  team->current = &fiber;
  threadIdx = {static_cast<unsigned>(fiber.thread), 0, 0};
  blockIdx = {team->first_block + static_cast<unsigned>(fiber.rank), 0, 0};
  swapcontext(&team->scheduler, &fiber.context);
}

inline void run_team(Team& t) {
  team = &t;
  for (Fiber& fiber : t.fibers) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    fiber.done = false;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (size_t left = t.fibers.size(); left > 0;) {
    const long long before = t.waits;
    left = 0;
    for (Fiber& fiber : t.fibers) {
      if (!fiber.done) resume(fiber);
      left += fiber.done ? 0 : 1;
    }
    if (left > 0 && t.waits == before) {
      std::fprintf(stderr, "emulator: block %u: %zu threads wait at a barrier that the others never reach\n",
                   blockIdx.x, left);
      std::abort();
    }
  }
}

template <typename... P, size_t... I>
void call_with(void (*kernel)(P...), void** arguments, std::index_sequence<I...>) {
  kernel(static_cast<P>(arguments[I])...);
}

template <typename... P>
void launch(void (*kernel)(P...), void** arguments, unsigned grid, int block, int cluster, size_t shared) {
  job = {[](const void* k, void** a) {
           call_with(reinterpret_cast<void (*)(P...)>(reinterpret_cast<size_t>(k)), a, std::index_sequence_for<P...>());
         },
         reinterpret_cast<const void*>(kernel), arguments};
  Team t;
  t.threads = block;
  t.ranks = cluster;
  t.fibers.resize(static_cast<size_t>(block * cluster));
  t.warp_barriers.resize(static_cast<size_t>((block + 31) / 32 * cluster));
  t.block_barriers.resize(static_cast<size_t>(cluster));
  t.slots.resize(static_cast<size_t>(block * cluster));
  for (int rank = 0; rank < cluster; ++rank) t.shared.push_back(std::make_unique<unsigned char[]>(shared + 128));
  for (int i = 0; i < block * cluster; ++i) {
    Fiber& fiber = t.fibers[static_cast<size_t>(i)];
    fiber.stack.reset(new char[kStackBytes]);
    fiber.thread = i % block;
    fiber.rank = i / block;
  }
  blockDim = {static_cast<unsigned>(block), 1, 1};
  gridDim = {grid, 1, 1};
  for (t.first_block = 0; t.first_block < grid; t.first_block += static_cast<unsigned>(cluster)) run_team(t);
}

}  // namespace solstice::host
