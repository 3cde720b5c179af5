// A reduction that one thread runs by itself, as a loop.
#pragma once

#include "codegen/emitter.h"

namespace solstice::codegen {

// The accumulator's start and step for one reducer: `combine(acc, x)` as text.
struct ReducerText {
  std::string start;
  std::string step;  // with {0} the accumulator and {1} the new term
};
Result<ReducerText> text_of(ir::Reducer reducer, CType type);

// Emits loops over the binders and gives the accumulator, in the outermost scope that has what they use: a reduction
// that does not vary with a loop around it is computed once, as the cost models count it.
Result<Value> emit_serial_reduction(Emitter& emitter, const ir::ExprRef& reduction);

}  // namespace solstice::codegen
