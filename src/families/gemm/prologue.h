// Elementwise equations of an operand, computed as its elements are read (kernels/gemm/prologue.h): by the pass that
// makes planes of it, and by the fp32 tiles.
#pragma once

#include <string>

#include "families/gemm/contraction.h"

namespace solstice::families::gemm {

// Writes the functors of the operands that have prologues, for A and for B. Errors: not_yet, where an expression has no
// text.
Status write_prologues(const ir::Program& program, Contraction& product);

// An operand in an entry: the text above it, its parameters (each with a comma before it), the template arguments of
// gemm::Operand and gemm::StridedOperand, its data, and the last initialiser of either (with a comma before it).
struct OperandText {
  std::string above, parameters, type, data, made;
};
// The text above operands in the file: in namespace solstice, after the headers of math.
std::string prologue_head(const std::string& above);
// `name`: the parameter's, of an operand in memory.
OperandText operand_text(const OperandAccess& operand, const std::string& name);

// gemm::StridedOperand<T>{data, batch, line, k}
std::string strided_text(const OperandAccess& operand, const OperandText& text);

}  // namespace solstice::families::gemm
