// First-order linear recurrences, h[t] = a[t]*h[t-1] + b[t], as nodes of flat equations.
#pragma once

#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// The effect of a step on the state before it. `b` of the first step has the initial state in it.
struct LinearStep {
  int along = -1;  // the index that counts steps
  bool reverse = false;
  ir::ExprRef a, b;
};

// The state after step `along`: a sum that binds nothing, over (b, a, along). Nothing else has this form.
ir::ExprRef recurrence_node(Interner& interner, const LinearStep& step);
bool is_recurrence(const ir::Expr& node);
LinearStep step_of(const ir::Expr& node);

// `value` as a linear function of the reads of tensor `state` in it, which are all of the step before `along`; what
// such a read yields outside of the tensor is the initial state. Error: not_yet where it is none.
Result<LinearStep> linear_step(Interner& interner, const ir::ExprRef& value, const ir::Tensor& tensor, int state,
                               int along, bool reverse);

// The dimension along which an equation of a recurrence advances, and where it writes there at step 0.
std::pair<size_t, int64_t> steps_of(const ir::Equation& equation);

// A recurrence while its step is written as a function of the one before.
struct OpenRecurrence {
  int group = -1;
  int tensor = -1;  // the state
  std::vector<ir::ExprRef> place;
  size_t along = 0;  // the dimension of steps
  bool reverse = false;

  // `read`, of the tensor that `equation` of the group defines, is of the state one step before; otherwise it is of
  // something that this step or the one before computes on the way. Error: not_yet for reads of neither.
  Result<bool> is_state(const Interner& interner, const ir::Program& program, const ir::Expr& read,
                        const ir::Equation& equation) const;
};

}  // namespace solstice::codegen
