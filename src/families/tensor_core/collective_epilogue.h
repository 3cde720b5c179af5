// The epilogue of CUTLASS's collectives for sm_90a, which products and convolutions share: the demands of a kernel's
// equations on it, and its bytes of shared memory.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "ir/program.h"

namespace solstice::families::tensor_core {

struct CollectiveEpilogue {
  DType result = DType::kF32;
  int64_t align_result = 16;  // bytes that divide base, lines and batches of the result and of residuals
  int residuals = 0;          // tensors of the result's shape that are read (C and further ones)
  bool fused = false;         // more than alpha * product + beta * C
};

// The epilogue of a kernel that uses the sum `node` of `equation`, after locals and views are inlined; nothing where
// its use is not known.
std::optional<CollectiveEpilogue> collective_epilogue(const ir::Program& program, const ir::Kernel& kernel,
                                                      int equation, const ir::Expr* node);

// Bytes of shared memory of an epilogue that stores through it: the closed form of the TMA epilogue's shared storage,
// barriers and alignment included.
int64_t stored_through_shared(const CollectiveEpilogue& epilogue, int tile_m, int tile_n, bool cooperative);

}  // namespace solstice::families::tensor_core
