// Cost of a program's equations, whatever kernels compute them: operations by class and bytes by tensor, of the live
// part alone (an output or a buffer's new value needs it, element by element where indices are affine).
//
// Operations are those of the equations as written, after: one count for equal subexpressions of an equation; every
// subexpression at the points of the indices it depends on, not of all around it; products under a sum factored in the
// cheapest pairwise order; prefix sums whose terms do not depend on the prefix's end counted once a term. It is the
// work of these equations, not a bound over all algorithms.
//
// Elements read are lower limits where they are not exact, so that a bound made of them stays a bound.
#pragma once

#include <vector>

#include "ir/analysis/live.h"
#include "ir/count/operations.h"
#include "ir/program.h"

namespace solstice::ir {

struct ReadCount {
  int tensor = -1;
  double elements = 0;  // distinct, at least: an index that is a value may be the same everywhere
  double most = 0;      // distinct, at most: it may be another everywhere
};

struct EquationCount {
  int equation = -1;
  Work work;
  DType dtype = DType::kF32;     // the widest of what it reads: in this precision it computes
  DType operands = DType::kF32;  // the widest factor of its contraction
  double elements = 0;           // live elements of the target
  std::vector<ReadCount> reads;  // one a tensor, the largest of its reads
  int64_t steps = 0;             // of the recurrence it belongs to, 0: none
  bool reduces = false;          // it has a reduction
  bool exact = true;
};

struct TensorCount {
  int tensor = -1;  // of several that share storage the largest
  double elements = 0;
};

struct Count {
  std::vector<EquationCount> equations;  // live ones in text order
  std::vector<TensorCount> inputs;       // inputs, params, buffers and draws that every algorithm reads (reads.h)
  std::vector<TensorCount> outputs;      // outputs and new values of buffers that must be written
  std::vector<int> opaque;               // of Program::opaques: their cost is unknown
  Work total() const;
};

// Outputs that are in `needs` count as needed in that part alone.
Count count(const Program& program, const Needs& needs = {});

// Storage dtype of each tensor; of a local the widest of what it is computed from.
std::vector<DType> dtypes_of(const Program& program);

}  // namespace solstice::ir
