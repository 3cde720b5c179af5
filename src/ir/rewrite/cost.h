// Cost of a program, on one scale for work and traffic.
#pragma once

#include "ir/count.h"
#include "ir/program.h"

namespace solstice::ir {

// Cost by ir/count.h.
struct Cost {
  double operations = 0;  // a multiply-add of a contraction counts two
  double bytes = 0;       // read and written if every equation ran alone
  // One scale for both: issue slots of a GPU's ordinary pipe that take as long. Only the order of costs is used, to
  // choose between programs that mean the same.
  double slots = 0;
};

Cost operator-(const Cost& a, const Cost& b);

// `needs`: of outputs that are needed in part.
Cost program_cost(const Program& program, const Needs& needs = {});

}  // namespace solstice::ir
