// A reduction of a rows kernel as CUDA text.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "codegen/emitter.h"
#include "ir/program.h"

namespace solstice::families::rows {

struct Reduction {
  std::string name;           // of the result ("r3")
  std::string op;             // "Sum" of kernels/rows/reduce.h
  codegen::CType value_type;  // of the result as the equations see it
  std::string type;           // of the accumulator
  bool ranked = false;
  std::string term, test;  // what is combined, and when

  bool rounds() const { return op == "Sum" && value_type == codegen::CType::kF32; }
  std::string value() const { return ranked ? name + ".index" : name; }
};

// What one block found for its part of a row, where the parts of a row are folded by a kernel of their own (fold.h).
struct Partial {
  ir::ExprRef node;
  Reduction reduction;
};

inline constexpr int64_t kLargestAccumulator = 16;  // bytes

// Writes the term, and the test if it has one, where the emitter stands. Error: not_yet for a reducer without a CUDA
// form.
Result<Reduction> begin_reduction(codegen::Emitter& emitter, const ir::Expr& e);

std::string partial_name(size_t number);  // of the pointer to a reduction's partial results

}  // namespace solstice::families::rows
