// The two operands of a product as it reads them: the part that is linear in the equation's indices, and the gathers.
#pragma once

#include <set>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace solstice::families::gemm {

// An index of a read that is not linear: it chooses a matrix, or a row.
struct Gather {
  ir::ExprRef at;
  int64_t stride = 0, extent = 0;
};

struct OperandRead {
  int tensor = -1;
  ir::Affine offset;  // elements, of the linear part
  std::vector<Gather> gathers;

  int64_t coefficient_of(int index) const;
  bool gathers_by(int index) const;
};

std::set<int> indices_in(const ir::ExprRef& expression);

// Errors: illegal_knobs where it is read with `else`.
Result<OperandRead> operand_read(const ir::Program& program, const ir::Expr& read);

}  // namespace solstice::families::gemm
