// The function of one nest, and its call.
#pragma once

#include <string>
#include <vector>

#include "families/elementwise/nest.h"

namespace solstice::families::elementwise {

struct NestText {
  std::string function;
  std::string call;  // in the blocks from `first_block` on
  int64_t blocks = 0;
  std::vector<int> reads, writes;  // tensors
};

Result<NestText> nest_text(const ir::Program& program, Nest& nest, int id, int64_t first_block,
                           const Settings& settings);

}  // namespace solstice::families::elementwise
