// Algebraic rewrites of problems: the same outputs from other equations (docs/rewrites.md).
//
// Each rewrite is one file of rewrites/ with its proof sketch, and holds for every finite input and weight: nothing
// looks at values. Over the reals it is exact; only the order of rounding changes. None crosses a cast, a narrowing
// store or an infinity, changes a recurrence's steps, or touches the interface.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/rewrite/subject.h"

namespace solstice::ir {

struct Rewritten {
  Program program;          // equations that nothing needs any more are left in
  std::string description;  // "the sum over `n` moves inside `linear`"
};

struct Rewrite {
  std::string name;
  std::string help;              // one sentence
  bool structural = false;       // prepares for other kernels; counts no operation less
  bool keeps_nonfinite = false;  // NaN stays NaN and an infinity itself, since the same values are computed
  // Rewrites this equation, or nothing where it does not apply. The program has no kernels.
  std::optional<Rewritten> (*at)(const Subject& subject, int equation) = nullptr;
};

const std::vector<const Rewrite*>& all_rewrites();   // generated table
const Rewrite* find_rewrite(std::string_view name);  // null: none

}  // namespace solstice::ir
