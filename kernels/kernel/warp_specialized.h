// The frame of a warp-specialised kernel: kConsumers consumer warpgroups, then one producer warpgroup. What the roles
// do is up to `Parts`:
//
//   static constexpr int kConsumers, kCluster;   // warpgroups; blocks
//   using Registers = ...;                       // SplitRegisters or KeepRegisters
//   void init() const;                           // one thread, before the block or cluster meets: its barriers
//   void prepare();                              // all threads, before they meet
//   void begin() const;                          // all threads, after they have met: launch control
//   void produce() const;                        // the producer warpgroup
//   void consume(int group) const;               // consumer warpgroup `group`
//   void end() const;                            // all threads, before they part
//
// Each role makes its own parts: values that both had from before would be kept in registers that the producer does
// not have.
#pragma once

#include "ptx/sync.h"

namespace solstice::kernel {

// Registers of a thread in each role; launch bounds give all threads the same number.
template <int kProducer, int kConsumer>
struct SplitRegisters {
  SOLSTICE_DEVICE static void shrink() { ptx::shrink_registers<kProducer>(); }
  SOLSTICE_DEVICE static void grow() { ptx::grow_registers<kConsumer>(); }
};
struct KeepRegisters {
  SOLSTICE_DEVICE static void shrink() {}
  SOLSTICE_DEVICE static void grow() {}
};

// All blocks of the cluster have their barriers.
template <int kCluster>
SOLSTICE_DEVICE void meet() {
  if constexpr (kCluster > 1)
    ptx::cluster_sync();
  else
    __syncthreads();
}
// No block ends while another one's copies or arrivals go to its memory.
template <int kCluster>
SOLSTICE_DEVICE void part() {
  if constexpr (kCluster > 1) {
    ptx::sync_warp();
    ptx::cluster_sync();
  }
}

// One value for all lanes, as the compiler can see.
SOLSTICE_DEVICE int warpgroup() { return __shfl_sync(~0u, threadIdx.x / 128, 0); }

template <class Parts>
SOLSTICE_DEVICE void run_warp_specialized(Parts& parts) {
  const int group = warpgroup();  // before all else: found behind begin(), it costs consumers of 256 columns registers
  if (threadIdx.x == 0) parts.init();
  parts.prepare();
  meet<Parts::kCluster>();
  parts.begin();
  if (group == Parts::kConsumers) {
    Parts::Registers::shrink();
    parts.produce();  // part: producer
  } else {
    Parts::Registers::grow();
    parts.consume(group);  // part: consumer
  }
  parts.end();
  part<Parts::kCluster>();
}

}  // namespace solstice::kernel
