// Judges a rewrite by the equations that it changes, without the rest of the program.
#pragma once

#include <map>
#include <vector>

#include "base/result.h"
#include "ir/count.h"
#include "ir/rewrite/cost.h"
#include "ir/rewrite/subject.h"

namespace solstice::ir {

struct Trial {
  Program program;     // without what nothing needs any more
  Cost saved;          // by the equations that changed or went, at the points that the program needs of them
  bool proved = true;  // false: an index is a tensor's value, whose range only the whole program may show
};

// Error program_invalid: what changed breaks a static rule.
Result<Trial> tried(const Subject& before, const Needs& needs, Program after);

}  // namespace solstice::ir
