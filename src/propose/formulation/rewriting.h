// The rewrites (ir/rewrite/rewrite.h) that lead from a problem to equations of a candidate, one after the other, as its
// label names them: "rewritten by split_statistics at `y`, fold_scalars at `z`". Each is applied and its result bound
// as the driver does it; that a candidate's equations are the problem's is found out where every candidate's are
// (evaluate/meaning.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/rewrite/driver.h"

namespace solstice::propose {

struct RewriteStep {
  const ir::Rewrite* rewrite = nullptr;
  std::string target;  // of the equation that it is applied at
  int piece = 0;       // number of the equation among that tensor's, from 0

  bool operator==(const RewriteStep&) const = default;
  std::string text() const;  // "fold_scalars at `z`", "fold_scalars at piece 2 of `z`"
};

// Origin of equations. Without a problem nobody is to rewrite them.
struct Derivation {
  std::shared_ptr<const ir::BoundText> problem = {};
  std::vector<RewriteStep> steps = {};
};

RewriteStep step_of(const ir::Site& site);

std::string label_of(const std::vector<RewriteStep>& steps);  // "" of none
// Nothing where it is no such label, or of rewrites that this build has not.
std::optional<std::vector<RewriteStep>> steps_named(const std::string& label);

// Each rewrite that a label names, with places or as the driver's are, keeps NaN and infinities as they are.
// Not where this build has no such rewrite.
bool keeps_nonfinite(const std::string& label);

// The same for labels of the same steps in any order; "" of other labels.
std::string unordered(const std::string& label);

// Errors: bad_argument where a step does not apply; those of ir::apply().
Result<ir::BoundText> rewritten(const ir::BoundText& problem, const std::vector<RewriteStep>& steps);

// Equations that one rewrite more or less leads to.
struct Rewording {
  std::vector<RewriteStep> steps;
  std::string reason;  // "the sum over `n` moves inside `y`", "without fold_scalars at `z`"
};

// From `equations`, which `from` leads to: one more at each place, those that save most first, then one less. None for
// programs of many equations, or after many rewrites: finding out takes long. `keep_nonfinite`: by rewrites alone that
// keep NaN and infinities.
std::vector<Rewording> rewordings(const ir::BoundText& equations, const Derivation& from, bool keep_nonfinite = false);

}  // namespace solstice::propose
