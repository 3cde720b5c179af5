// mbarriers by their place: a shared address, or a pointer where the code also runs under the host's emulator.
#pragma once

#include "ptx/types.h"
#if defined(__CUDACC__)
#include "ptx/mbarrier.h"
#include "ptx/sync.h"
#else
#include "host/mbarrier.h"
#endif

namespace solstice::pipeline {

using Barrier = unsigned long long;

// The shared address of a barrier, counted in barriers as a pointer is.
struct BarrierAddress {
  u32 address;

  SOLSTICE_DEVICE operator u32() const { return address; }
};
SOLSTICE_DEVICE BarrierAddress operator+(BarrierAddress first, int i) {
  return {first.address + static_cast<u32>(sizeof(Barrier)) * static_cast<u32>(i)};
}

#if defined(__CUDACC__)

SOLSTICE_DEVICE u32 address_of(u32 place) { return place; }
SOLSTICE_DEVICE u32 address_of(const void* place) { return ptx::shared_address(place); }

using ptx::barrier_arrive, ptx::barrier_arrive_expect, ptx::barrier_arrive_remote, ptx::barrier_init,
    ptx::barrier_init_fence, ptx::barrier_wait;

// Keeps ordinary loads before the copies that an arrival admits: those go through another proxy.
SOLSTICE_DEVICE void fence_copies() { ptx::fence_async_proxy(); }

#else

inline void* address_of(void* place) { return place; }

using host::barrier_arrive, host::barrier_arrive_expect, host::barrier_init, host::barrier_wait;

inline void barrier_init_fence() {}
inline void fence_copies() {}

#endif

}  // namespace solstice::pipeline
