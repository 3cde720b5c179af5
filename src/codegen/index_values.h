// Integers that a kernel computes from one variable, as C++ text: the choice of a row or a matrix (`ex[p[m]]`).
#pragma once

#include "codegen/variables.h"

namespace solstice::codegen {

// `value` is an int or long long expression, ready after the statements `text`, which are over the variable and the
// pointers `names[i]` of type `const storage_type*` for reads[i]. Reads outside their tensor give 0.
struct IndexValue {
  std::vector<int> reads;
  std::vector<std::string> names;
  std::string text, value;
};

// `variable` holds the digits of indices of `equation`, outermost first; the expression is over these indices.
Result<IndexValue> emit_index_value(const ir::Program& program, const ir::Equation& equation,
                                    const IndexVariable& variable, const ir::ExprRef& expression);

}  // namespace solstice::codegen
