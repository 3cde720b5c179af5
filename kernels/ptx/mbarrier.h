// mbarrier: transaction barriers in shared memory. Addresses are 32-bit shared-window addresses.
//
// Waits and remote arrives use the default (CTA) scope forms: the `.acquire.cluster` and `.release.cluster`
// forms cost 30 % of a main loop, and the async proxy's own completion already orders the data of a stage.
#pragma once

#include "ptx/types.h"

namespace solstice::ptx {

SOLSTICE_DEVICE void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// After the last init: other CTAs of the cluster and the copy engine may use the barriers.
SOLSTICE_DEVICE void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

SOLSTICE_DEVICE void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// As many arrivals at once.
SOLSTICE_DEVICE void barrier_arrive(u32 barrier, u32 count) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

SOLSTICE_DEVICE void barrier_arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

SOLSTICE_DEVICE void barrier_arrive_remote(u32 barrier, u32 cta) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(cta)
      : "memory");
}

#define SOLSTICE_BARRIER_WAIT(ORDER)                                                                       \
  asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity" ORDER                               \
               ".shared::cta.b64 done, [%0], %1;\n@done bra READY;\nbra AGAIN;\nREADY:\n}" ::"r"(barrier), \
               "r"(parity)                                                                                 \
               : "memory")

SOLSTICE_DEVICE void barrier_wait(u32 barrier, u32 parity) { SOLSTICE_BARRIER_WAIT(""); }
// For what other CTAs of the cluster have stored (store_remote_async).
SOLSTICE_DEVICE void barrier_wait_cluster(u32 barrier, u32 parity) { SOLSTICE_BARRIER_WAIT(".acquire.cluster"); }

#undef SOLSTICE_BARRIER_WAIT

// Stores to the same place of another CTA's shared memory, and completes 4 bytes on the same barrier there.
SOLSTICE_DEVICE void store_remote_async(u32 address, u32 cta, float value, u32 barrier) {
  asm volatile(
      "{\n.reg .b32 to, on;\nmapa.shared::cluster.u32 to, %0, %1;\nmapa.shared::cluster.u32 on, %3, %1;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [to], %2, [on];\n}" ::"r"(address),
      "r"(cta), "r"(__float_as_uint(value)), "r"(barrier)
      : "memory");
}

}  // namespace solstice::ptx
