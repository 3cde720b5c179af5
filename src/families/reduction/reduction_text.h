// A reduction of a rows kernel as CUDA text.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "codegen/emitter.h"
#include "ir/program.h"

namespace solstice::families::reduction {

struct Reduction {
  std::string name;           // of the result ("r3")
  std::string op;             // "Sum" of kernels/reduction/reduce.h
  codegen::CType value_type;  // of the result as the equations see it
  std::string type;           // of the accumulator
  bool ranked = false;
  std::string term, test;  // the combined value, and its condition
  bool wide = false;       // an f32 sum in a double; `term` is a float
  int equation = -1;       // of the program, that it stands in; -1: not known

  // An arg-reduction of all elements of the axis, each thread taking its own in their order.
  bool in_order() const { return ranked && test.empty(); }

  bool scaled() const { return op == "ScaledProd"; }
  bool rounds() const { return op == "Sum" && type == "float"; }
  int64_t bytes() const;  // of an accumulator
  // The value of the accumulator `text` in the equations.
  std::string value_of(const std::string& text) const;
  std::string value() const { return value_of(name); }
};

// One block's result for its part of a row, where a kernel of its own folds the parts of a row.
struct Partial {
  ir::ExprRef node;
  Reduction reduction;
};

// The reduction over terms of this type; name, term and test are left empty.
Result<Reduction> reduction_of(const ir::Expr& e, codegen::CType term);

inline constexpr int64_t kLargestAccumulator = 16;  // bytes

// Writes the term, and the test if it has one, where the emitter stands. `wide`: f32 sums are accumulated in doubles,
// which costs a conversion and an addition an element and leaves one rounding. Error: not_yet for a reducer without a
// CUDA form.
Result<Reduction> begin_reduction(codegen::Emitter& emitter, const ir::Expr& e, bool wide = false);

std::string partial_name(size_t number);  // of the pointer to a reduction's partial results

}  // namespace solstice::families::reduction
