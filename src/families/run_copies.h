// Reads that reach a kernel as runs of elements through a ring of shared memory (kernels/pipeline/bulk_ring.h).
#pragma once

#include <cstdint>
#include <string>

#include "codegen/access.h"
#include "codegen/emitter.h"

namespace solstice::families {

// One read, and where its runs lie in a slot.
struct RunRead {
  codegen::Access access;
  int element = 4;     // bytes
  int64_t offset = 0;  // bytes from the slot's start
  int64_t pitch = 0;   // bytes from one run to the next
};

// Bytes of a slot that a run of `elements` needs wherever it begins: whole units of 16 around it.
constexpr int64_t run_bytes(int64_t elements, int element) { return (elements * element + 15) / 16 * 16 + 16; }

// Begin of a run, in elements of its tensor: the read's place with the emitter's present bindings.
Result<std::string> run_begin(codegen::Emitter& emitter, const RunRead& read);
// Statements of a lane of the copying warp: its run number `mine` of `count` elements into slot `ring`, its bytes added
// to `expected`.
Result<std::string> run_copy(codegen::Emitter& emitter, const RunRead& read);

}  // namespace solstice::families
