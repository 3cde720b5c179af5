// A kernel's equations for a generator: one equation per materialised tensor (or piece of one), whose right
// side reads only tensors that other kernels or the caller provide.
//
// - locals, views and tensors of this kernel are inlined (storage is permission: a value kept on chip is not rounded);
// - a read of a tensor defined in pieces becomes that piece, or a select over the pieces where it can be several;
//   pieces that other kernels define are read from memory;
// - mean, var and logsumexp become sums and maxima that lose nothing to cancellation (expand.h);
// - every node is interned (interner.h), all equations share one index table.
#pragma once

#include <vector>

#include "base/result.h"
#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

struct FlatEquation {
  int equation = -1;  // id in the program
  int target = -1;
  std::vector<int> free;  // interner indices, order of ir::Equation::free
  std::vector<ir::ExprRef> lhs;
  ir::ExprRef rhs;
  // The equation is of the last step of a recurrence alone: an index that counts its steps and is none of `free`, and
  // the step. -1: of all that its free indices say.
  int steps = -1;
  int64_t last = 0;
};

struct FlatKernel {
  Interner indices;
  std::vector<FlatEquation> equations;
};

// A node of an equation that stands for a value the caller has (gemm: the contraction). Reads of it appear as reads
// of tensor `pseudo`, indexed by the equation's free indices.
struct Anchor {
  int equation = -1;
  const ir::Expr* node = nullptr;
  int pseudo = -1;
};

// Treatment of linear recurrences of first order: they become nodes (recurrence.h), or are refused as others (not_yet).
enum class Recurrences { kRefused, kLinear };

// Errors: illegal_knobs for recurrences that are refused, and for a tensor that the kernel writes in part and
// reads others that another kernel writes; program_invalid where a definition cannot be inverted (named).
Result<FlatKernel> flatten(const ir::Program& program, const ir::Kernel& kernel,
                           const std::vector<Anchor>& anchors = {}, Recurrences recurrences = Recurrences::kRefused);

// A node of one of the kernel's equations, inlined in the same way. Its indices are the equation's, by the same ids;
// indices that inlining adds come behind them.
struct FlatNode {
  Interner indices;
  ir::ExprRef value;
};
Result<FlatNode> flatten_node(const ir::Program& program, const ir::Kernel& kernel, int equation,
                              const ir::ExprRef& node);

}  // namespace solstice::codegen
