// The address of the parameters in given code: what is done with it, by data flow over the machine code.
//
// A kernel with descriptors by value takes it (c[0x0][0x198], high half 0x19c): a descriptor lies at some distance
// behind it, and the copy engine is told where. Behind the parameters the memory is the driver's, and what is stored
// there lasts. So the address may be moved, chosen by what is not derived from it, added to other numbers, and be
// the address of a descriptor; nothing else: no load, store, atomic or copy through it, no store of it (to local and
// shared memory too), no arithmetic that could take it apart, no comparison, branch or call by it, no other lane.
// An instruction that is not in the table (toolchain/machine_opcodes.cpp) may not stand where a register holds it.
//
// Promises: an address that is given to the copy engine as a descriptor's is this one plus a number that does not
// depend on it, but perhaps by multiples of 2^32 (carries into the high half); no other instruction of the code sees
// it. It follows registers, uniform registers and predicates over every path, to a fixed point; a return goes to behind
// any call of its section.
//
// Not proved: that such an address is in the parameters (elsewhere the copy engine reads what it finds, or faults);
// that code which learned the address otherwise, from an integer that it guesses or from memory of the driver, does
// not store there; that the machine code, which an untrusted compiler writes, returns only behind its calls, and reads
// a uniform register after lanes have parted as if they had not.
#pragma once

#include <string>
#include <vector>

#include "toolchain/cubin.h"

namespace solstice::evaluate {

// The first misuse, with its instruction and the way out, for the code's author; "" none. Of sm_90.
std::string parameter_window_flaw(const std::vector<toolchain::CodeSection>& code,
                                  const std::vector<toolchain::CubinKernel>& kernels);

}  // namespace solstice::evaluate
