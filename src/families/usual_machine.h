// The machine of layouts where none is given (matching asks without one): an H200's.
#pragma once

#include <cstdint>

#include "machine/machine.h"

namespace solstice::families {

inline constexpr int kUsualSMs = 132;
inline constexpr int64_t kUsualShared = 227 * 1024;  // bytes of a block
inline constexpr int64_t kThreadsOfSM = 2048;        // that it has room for

inline int64_t sms_of(const machine::Machine* machine) {
  return machine && machine->sm_count > 0 ? machine->sm_count : kUsualSMs;
}
inline int64_t shared_of(const machine::Machine* machine) {
  return machine && machine->shared_per_block.value > 0 ? static_cast<int64_t>(machine->shared_per_block.value)
                                                        : kUsualShared;
}

}  // namespace solstice::families
