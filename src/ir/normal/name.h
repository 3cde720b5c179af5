// Pass 8, `name`: binders get places instead of names, so that reductions that differ only in them are one term.
//
// Binders are ordered by colour refinement: a binder's colour is the hash of the body in which it alone is marked, the
// others carry their colours so far; ties are broken by trying at most 120 orders and taking the least hash.
//
// Proof. Renaming binders does not change a reduction, and the box of its points has no order. A colour that two
// different orders share by chance only leaves two equal terms apart. A binder at nesting level h is named by h and its
// place, so no name is bound twice on the way down.
#pragma once

#include <vector>

#include "ir/normal/terms/pool.h"

namespace solstice::ir::normal {

// `refine`: find an order; else as given.
TermId closed(Pool& pool, Reducer reducer, const std::vector<int>& binders, const std::vector<TermId>& args,
              bool refine);

// A reduction with binders of its own: what it is made of may be taken apart.
struct Opened {
  std::vector<int> binders;
  std::vector<TermId> args;
};
Opened opened(Pool& pool, TermId reduction);

// Closes every reduction below `t` again, innermost first.
TermId named(Pool& pool, TermId t, std::unordered_map<TermId, TermId>& done);

}  // namespace solstice::ir::normal
