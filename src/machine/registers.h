// Registers of an SM as the hardware hands them out: to whole warps, in each quarter of the SM by itself. The rules are
// those of cuda_occupancy.h of the CUDA toolkit, compute capability 9.0.
#pragma once

#include <cstdint>

#include "machine/machine.h"

namespace solstice::machine {

// That a launch of such a block needs: as many as if its warps filled the quarters evenly.
int64_t registers_of_block(const Machine& machine, int64_t threads, int64_t registers_a_thread);
// Blocks whose registers an SM holds at once; 0: it cannot be launched.
int64_t blocks_by_registers(const Machine& machine, int64_t threads, int64_t registers_a_thread);

}  // namespace solstice::machine
