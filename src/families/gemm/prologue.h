// Elementwise equations of an operand, computed as its elements are read (kernels/gemm/prologue.h): by the pass that
// makes planes of it, and by the fp32 tiles.
#pragma once

#include <string>
#include <vector>

#include "codegen/flatten.h"
#include "families/gemm/contraction.h"
#include "families/gemm/reads.h"

namespace solstice::families::gemm {

// The functor of an operand with a prologue: `text` defines `name`; the entry's parameters (each with a comma before
// it), and an object of it in the entry.
struct PrologueText {
  std::string text, name, parameters, value;
  std::vector<int> reads;  // tensors, as the parameters are
};

// What an operand is made of. The read that has all indices of the element, its main one, decides how the operand is
// walked.
struct Prologue {
  // One equation: the element, over the indices of the sum's equation by their ids; its left side repeats the main
  // read.
  codegen::FlatKernel flat;
  ir::ExprRef main;
  int source = -1;          // the tensor that the product reads, if it is one
  std::vector<int> reads;   // tensors
  bool brief = false;       // ends in 16 bits, as a stored element would: functions may have few digits
  double instructions = 0;  // of an element, estimated
  double bytes = 0;         // that an element reads, of tensors with all of its indices
  PrologueText text;        // by write_prologues()
  const ir::ExprRef& value() const { return flat.equations.front().rhs; }
};

struct FoundOperand {
  OperandRead read;      // of the tensor, or the main read
  OperandAccess access;  // tensor, format and offset
};

// An operand of the product in this equation: a read of memory, or an element that the kernel computes. Errors:
// illegal_knobs or not_yet, with the reason.
Result<FoundOperand> find_operand(const ir::Program& program, const ir::Kernel& kernel, int equation,
                                  const ir::ExprRef& node);

// Writes the functors of the operands that have prologues, as which of the two they are. Errors: what cannot be
// written.
Status write_prologues(const ir::Program& program, Contraction& product);

// An operand in an entry: what stands above it, its parameters (each with a comma before it), the template arguments of
// gemm::Operand and gemm::StridedOperand, its data, and the last initialiser of either (with a comma before it).
struct OperandText {
  std::string above, parameters, type, data, made;
};
// What stands above operands in the file: in namespace solstice, behind the headers of math.
std::string prologue_head(const std::string& above);
// `name`: the parameter's, of an operand in memory.
OperandText operand_text(const OperandAccess& operand, const std::string& name);

}  // namespace solstice::families::gemm
