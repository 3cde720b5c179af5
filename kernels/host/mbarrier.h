// mbarriers of the emulator: a word of memory that counts arrivals. Bulk copies are done when they are asked for, so
// the bytes that a barrier expects have come before it hears of them.
#pragma once

#include "host/emulator.h"

namespace solstice::host {

// The content of a barrier's 8 bytes.
struct MBarrier {
  unsigned short arrivals, missing;  // of a phase, of this phase
  unsigned phases;                   // that are over
};
static_assert(sizeof(MBarrier) == 8);

inline MBarrier& mbarrier(void* place) { return *static_cast<MBarrier*>(place); }

inline void barrier_init(void* place, unsigned arrivals) {
  mbarrier(place) = {static_cast<unsigned short>(arrivals), static_cast<unsigned short>(arrivals), 0};
}
inline void barrier_arrive(void* place) {
  MBarrier& barrier = mbarrier(place);
  ++team->waits;
  if (--barrier.missing > 0) return;
  barrier.missing = barrier.arrivals;
  ++barrier.phases;
}
inline void barrier_arrive_expect(void* place, unsigned) { barrier_arrive(place); }
// Until the phase of this parity is over. Nobody is two phases behind.
inline void barrier_wait(void* place, unsigned parity) {
  while (mbarrier(place).phases % 2 == parity) yield();
}

}  // namespace solstice::host
