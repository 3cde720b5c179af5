// The part of a value that an equation needs: the triangle of a product whose other half is masked, say.
#pragma once

#include <functional>
#include <optional>

#include "codegen/linear.h"

namespace solstice::codegen {

// The points with form >= 0 at which `value` is needed for `expression`; nothing where that is no half-space, or all of
// them. Only selects on affine comparisons leave a value out.
std::optional<ir::Affine> needed_where(const Interner& indices, const ir::ExprRef& expression,
                                       const std::function<bool(const ir::Expr&)>& value);

}  // namespace solstice::codegen
