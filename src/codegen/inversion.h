// Inverting a left side: for `t[c*i + j, k+o] = ...` read as t[a, b], which i, j, k, and when the element exists.
#pragma once

#include <map>
#include <vector>

#include "base/result.h"
#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

struct Inversion {
  std::map<int, ir::ExprRef> indices;  // the equation's free index -> expression of the reader
  ir::ExprRef inside;                  // element belongs to this equation; null: always
};

// `arguments` are interned in `interner`. Intervals decide what needs a test.
Result<Inversion> invert(Interner& interner, const ir::Program& program, const ir::Equation& equation,
                         const std::vector<ir::ExprRef>& arguments);

// lo <= e and e <= hi, tests that always hold left out; null if nothing is left.
ir::ExprRef in_range(Interner& interner, const ir::Program& program, const ir::ExprRef& e, int64_t lo, int64_t hi);
ir::ExprRef both(Interner& interner, const ir::ExprRef& a, const ir::ExprRef& b);  // null: true

}  // namespace solstice::codegen
