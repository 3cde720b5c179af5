// mean, var and logsumexp in terms of sum and max.
//
// A mean of more than 64 values is added up in fp64 and rounded once, so that it is right to the last place: data of
// one value has exactly that mean, whatever the order of summation and whichever kernel takes it. A GPU with fp64 units
// adds faster than memory delivers. var is the mean squared distance from that mean (two passes, no cancellation), in
// fp32. logsumexp is shifted by the maximum where that is finite.
#pragma once

#include <unordered_map>

#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::codegen {

// Of expressions of one interner, which the results are of, too; they share what they have in common.
class ReducerExpander {
 public:
  // `program` has the tensors that are read. Both outlive it.
  ReducerExpander(Interner& interner, const ir::Program& program) : interner_(interner), program_(program) {}

  ir::ExprRef expand(const ir::ExprRef& root);

 private:
  Interner& interner_;
  const ir::Program& program_;
  std::unordered_map<const ir::Expr*, ir::ExprRef> memo_;
};

}  // namespace solstice::codegen
