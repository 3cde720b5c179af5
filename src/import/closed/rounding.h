// Rounding of closed forms. PyTorch stores what every node yields; a closed form is one real expression of several
// nodes. Where something jumps (floor, a comparison, a cast to integers), the difference is one of whole results: the
// 7 of f32(n*0.7)*10 may be 6.9999995. So every float node leaves a mark in the term, and when all nodes are read the
// marks become casts where a jump reads them and they change what it yields at some point; the others go.
#pragma once

#include "base/dtype.h"
#include "import/draft/draft.h"

namespace solstice::importer {

// `term` as stored in `dtype`; the term itself where that certainly changes nothing.
TermRef as_marked(DType dtype, TermRef term);

// What it yields may jump where what it reads changes by rounding: comparisons, floor, argmax, casts.
bool is_jump(const Term& term);

// Marks become casts or go, in all equations.
void settle_rounding(Draft& draft);

}  // namespace solstice::importer
