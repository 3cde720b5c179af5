// First-order linear recurrences, h[t] = a[t]*h[t-1] + b[t], as nodes of flat equations.
#pragma once

#include "base/result.h"
#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// What a step does to the state before it. `b` of the first step has the initial state in it.
struct LinearStep {
  int along = -1;  // the index that counts steps
  bool reverse = false;
  ir::ExprRef a, b;
};

// The state after step `along`: a sum that binds nothing, over (b, a, along). Nothing else has this form.
ir::ExprRef recurrence_node(Interner& interner, const LinearStep& step);
bool is_recurrence(const ir::Expr& node);
LinearStep step_of(const ir::Expr& node);

// `value` as a linear function of the reads of tensor `state` in it, which are all of the step before `along`; what such a
// read yields outside of the tensor is the initial state. Error: not_yet where it is none.
Result<LinearStep> linear_step(Interner& interner, const ir::ExprRef& value, const ir::Tensor& tensor, int state, int along, bool reverse);

}  // namespace solstice::codegen
