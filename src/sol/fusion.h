// A fusion of equations into kernels that knows no kernel family: each contraction is a kernel with its elementwise
// producers and consumers, reductions over rows share a kernel with what surrounds them, a recurrence is one kernel,
// the rest are maps. Contraction, row normaliser, contraction become one (attention) where what lies between is larger
// than their operands.
#pragma once

#include <vector>

#include "base/units.h"
#include "ir/count.h"

namespace solstice::sol {

enum class KernelKind { kMap, kRows, kContraction, kAttention, kRecurrent };
const char* name_of(KernelKind kind);

struct FusedKernel {
  KernelKind kind = KernelKind::kMap;
  std::vector<size_t> equations;  // of Count::equations, ascending
};

// In an order in which they can run. A row of more than `row_limit` does not fit on chip: what uses it after its
// reduction reads it again, in another kernel.
std::vector<FusedKernel> fuse(const ir::Program& program, const ir::Count& count, Bytes row_limit);

}  // namespace solstice::sol
