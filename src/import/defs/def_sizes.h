// The extents of a def. Each size of the blocks is one expression of the caller's dims a block; here it becomes an
// expression of the def's own dims: those that the formals bind, statics, and what follows from them (P = H//2).
#pragma once

#include "import/defs/block.h"

namespace solstice::importer {

struct DefSizes {
  std::vector<Size> slots;                      // in the dims of the def, for each slot of the blocks
  std::vector<DimId> statics;                   // of the def
  std::vector<std::vector<Size>> passed;        // for each static, what each block passes
  std::vector<std::pair<DimId, DimId>> joined;  // dims of the caller that one static stands for
};

// The blocks have one key. Dims of the def get values of their own, so that extents that are equal in one block by
// chance are not taken for the same.
DefSizes fit_sizes(const Draft& outer, const std::vector<Block>& blocks, Dims& dims);

}  // namespace solstice::importer
