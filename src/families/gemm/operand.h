// The operands of a product: their strides and contiguous dimension, and the elementwise equations (prologue)
// that make their elements as they are read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/flatten.h"
#include "families/gemm/reads.h"
#include "ir/program.h"

namespace solstice::families::gemm {

// The functor of an operand with a prologue: `text` defines `name`; the entry's parameters (each with a comma before
// it), and an object of it in the entry.
struct PrologueText {
  std::string text, name, parameters, value;
  std::vector<int> reads;  // tensors, as the parameters are
};

// The equations of an operand. The read that has all indices of the element, its main one, decides how the operand is
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

// Strides of one operand in elements, by role; `line` is M for A and N for B. 0 where an operand does not
// depend on it. Of an operand that is computed: those of its main read (prologue.h), and the format of the element.
struct OperandAccess {
  int tensor = -1;
  DType dtype = DType::kF32;
  int64_t offset = 0;
  int64_t batch = 0;
  int64_t line = 0;
  int64_t k = 0;
  std::shared_ptr<const Prologue> made;  // null: as it lies in memory
};

struct FoundOperand {
  OperandRead read;      // of the tensor, or the main read
  OperandAccess access;  // tensor, format and offset
};

// An operand of the product in this equation: a read of memory, or an element that the kernel computes. Errors:
// illegal_knobs or not_yet, with the reason.
Result<FoundOperand> find_operand(const ir::Program& program, const ir::Kernel& kernel, int equation,
                                  const ir::ExprRef& node);

enum class Major { kNone, kK, kMN };  // which dimension of an operand is contiguous
Major major_of(const OperandAccess& operand, int64_t lines, int64_t k);
std::string_view major_text(Major major);  // as kernels name it

// Elements that may be loaded at once along the contiguous dimension: every line and batch starts aligned to
// them.
int vector_of(const OperandAccess& operand, Major major, int limit);

// The tensor cores take the operand where it lies: 16-bit format, or fp8 contiguous along k; 16-byte aligned lines and
// batches.
bool copies_directly(const OperandAccess& operand, Major major);

}  // namespace solstice::families::gemm
