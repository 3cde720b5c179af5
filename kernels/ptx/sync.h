// Barriers, fences and launch control: thin names for PTX, sm_90a.
#pragma once

#include "ptx/types.h"

namespace solstice::ptx {

SOLSTICE_DEVICE u32 shared_address(const void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

// The block's dynamic shared memory. Aligned for the 128-byte swizzle, whose pattern repeats every 1024
// bytes.
SOLSTICE_DEVICE u8* dynamic_shared() {
  extern __shared__ __align__(1024) u8 solstice_dynamic_shared[];
  return solstice_dynamic_shared;
}

SOLSTICE_DEVICE u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

SOLSTICE_DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Waits for the launches this one depends on; a no-op unless launched with programmatic dependence.
SOLSTICE_DEVICE void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
SOLSTICE_DEVICE void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

// Moves registers between the warpgroups of a CTA; legal only with a register cap at entry (launch bounds).
template <int kRegisters>
SOLSTICE_DEVICE void grow_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
SOLSTICE_DEVICE void shrink_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Makes ordinary shared-memory stores visible to the copy engine and the tensor cores.
SOLSTICE_DEVICE void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

SOLSTICE_DEVICE void sync_warp() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

SOLSTICE_DEVICE void sync_block() { asm volatile("bar.sync 0;" ::: "memory"); }
// A barrier of kThreads threads, whole warps, that the others of the block do not join.
template <int kThreads>
SOLSTICE_DEVICE void sync_threads() {
  asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
}

// The same with a barrier's number.
template <int kThreads>
SOLSTICE_DEVICE void sync_some(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

}  // namespace solstice::ptx
