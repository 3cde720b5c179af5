// Natural loops of a function: a branch back to a block that dominates it, and all that leads there without passing
// that block. Code out of line that only comes back is part of the loop that it was called from, not a loop. The trap
// at the end of a function, a branch to itself, is none.
#pragma once

#include <vector>

#include "diagnose/sass/flow.h"

namespace solstice::diagnose::sass {

struct Loop {
  int parent = -1;  // index of the loop around it
  int depth = 1;
  int header = 0;                 // block
  std::vector<int> latches = {};  // blocks that branch back to it
};

struct Loops {
  std::vector<Loop> loops;     // an outer one before its inner ones, by address
  std::vector<int> innermost;  // of each block; -1: in no loop
};

Loops loops_of(const Function& function, const Flow& flow);

}  // namespace solstice::diagnose::sass
