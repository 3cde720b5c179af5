// The tensor memory accelerator: boxes of a tensor to shared memory and back, plain runs of bytes, multicast.
// One thread issues; loads complete on an mbarrier (expect the bytes first), stores in bulk groups.
#pragma once

#include "ptx/types.h"

namespace solstice::copy {

SOLSTICE_DEVICE void prefetch(const TensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

SOLSTICE_DEVICE void load_box(u32 shared, const TensorMap* map, int x, int y, int z, u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(shared),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

// Lands at the same offset, and completes on the same barrier offset, in every CTA of `mask`.
SOLSTICE_DEVICE void load_box_multicast(u32 shared, const TensorMap* map, int x, int y, int z, u32 barrier, u16 mask) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(shared),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(mask)
      : "memory");
}

// `bytes` contiguous bytes; source, destination and size are multiples of 16.
SOLSTICE_DEVICE void load_bytes(u32 shared, const void* global, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
               "l"(global), "r"(bytes), "r"(barrier)
               : "memory");
}

SOLSTICE_DEVICE void store_box(const TensorMap* map, int x, int y, int z, u32 shared) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x),
               "r"(y), "r"(z), "r"(shared)
               : "memory");
}
SOLSTICE_DEVICE void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most kPending groups of this thread still read their shared memory.
template <int kPending>
SOLSTICE_DEVICE void store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
SOLSTICE_DEVICE void store_wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

}  // namespace solstice::copy
