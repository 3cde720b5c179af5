// Operations of one equation (ir/count.h says what is counted).
#pragma once

#include <vector>

#include "ir/count/operations.h"
#include "ir/domain.h"
#include "ir/program.h"

namespace solstice::ir {

struct EquationWork {
  Work work;
  DType operands = DType::kF32;
  bool exact = true;
};

// `dtypes`: of the program's tensors (dtypes_of).
EquationWork work_of(const Equation& equation, const Domain& domain, const std::vector<DType>& dtypes);

}  // namespace solstice::ir
