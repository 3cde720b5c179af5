// A team's kernel from its parts: the launch, the blocks' places, the roles of their warps, the memory of the offers.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "families/rows/draft.h"
#include "families/rows/multi_block/plan.h"

namespace solstice::families::rows {

struct MultiBlockText {
  std::string shift;       // of shifted vectors: MultiBlockWalk::shift_text
  std::string copying;     // of the copying warp
  std::string exchanging;  // of the exchanging warp, for row `row`, the team's number `round`
  std::string state;       // of a computing thread: what it carries from piece to piece
  std::string ahead;       // of both: loads for the piece that leaves
  std::string arriving;    // piece `chunk` of `row` has arrived
  std::string leaving;     // the results of its row are known
};

// Error: what one_launch refuses.
Result<Emission> multi_block_kernel(Draft& draft, const ir::Kernel& kernel, const MultiBlock& team,
                                    const MultiBlockText& text);

}  // namespace solstice::families::rows
