// Prefix reductions as they are written: `sum[j where j <= n](e)`, exclusive (`<`), from the end (`j >= n`), filtered
// (`j <= n and keep[m,j]`), or over a flipped tensor; and linear recurrences of first order.
#pragma once

#include "base/result.h"
#include "codegen/interner.h"
#include "ir/program.h"

namespace solstice::families::scan {

struct Prefix {
  int along = -1;        // the free index that ends the prefix
  bool reverse = false;  // it begins there instead, and runs to the end
  bool exclusive = false;
  bool linear = false;  // a recurrence: `elements` is a node of codegen/recurrence.h
  // The elements, over `along` in place of the binder: a reduction without binders (args: the term, and what remains of
  // the condition). Equal prefixes are one node; `integer` tells exclusive ones from the others.
  ir::ExprRef elements;
};

// Errors: illegal_knobs where `reduction` is none (with the reason), not_yet where no scan of this family computes it.
Result<Prefix> prefix_of(codegen::Interner& indices, const ir::ExprRef& reduction);

}  // namespace solstice::families::scan
