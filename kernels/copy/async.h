// cp.async: a thread's own copies from global to shared memory, 4, 8 or 16 bytes each, without registers. What lies
// beyond `valid` bytes is filled with zeros. Groups complete in order; after wait() a thread sees its own copies, and
// after a barrier those of others.
#pragma once

#include "ptx/types.h"

namespace solstice::copy {

template <int kBytes>
SOLSTICE_DEVICE void load_async(u32 shared, const void* global, int valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "sizes of cp.async");
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(valid) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(global), "n"(kBytes), "r"(valid)
                 : "memory");
}
template <int kBytes>
SOLSTICE_DEVICE void load_async(u32 shared, const void* global) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global), "n"(kBytes) : "memory");
}
// All of it, or zeros; where it is not, nothing is read from `global`, which may be any address.
template <int kBytes>
SOLSTICE_DEVICE void load_async_if(bool whole, u32 shared, const void* global) {
  static_assert(kBytes == 16, "a copy that passes the L1 cache");
  asm volatile(
      "{\n"
      "  .reg .pred none;\n"
      "  setp.eq.u32 none, %2, 0;\n"
      "  cp.async.cg.shared.global [%0], [%1], 16, none;\n"
      "}" ::"r"(shared),
      "l"(global), "r"(static_cast<u32>(whole))
      : "memory");
}
// One arrival at the barrier once all copies of this thread so far have landed.
SOLSTICE_DEVICE void async_arrive(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
SOLSTICE_DEVICE void async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most kPending of the thread's groups are on their way.
template <int kPending>
SOLSTICE_DEVICE void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace solstice::copy
