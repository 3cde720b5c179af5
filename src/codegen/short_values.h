// Values that need few digits: all their uses end in a tensor of at most 11 bits of significand (f16, bf16,
// fp8), and nothing on the way makes a relative error larger (products, quotients, roots, sums of what is not negative,
// choices). Their functions may be off by 2^-15 (kernels/math/special.h, `short_...`), a tenth of what rounding to f16
// is, so that the stored result is nearly always the one that exact functions give.
#pragma once

#include <optional>
#include <unordered_set>

#include "codegen/flatten.h"

namespace solstice::codegen {

using ShortValues = std::unordered_set<const ir::Expr*>;

ShortValues short_values_of(const ir::Program& program, const FlatKernel& flat);

// 1 + f(x) or 1 - f(x) with f one of erf and tanh, which cancels where the function nears -1 or 1: taken as a whole it
// keeps its digits there.
struct OnePlus {
  ir::ExprRef function;    // the erf or tanh
  bool subtracts = false;  // 1 - f(x), which is 1 + f(-x)
};
std::optional<OnePlus> one_plus_of(const ir::Expr& e);

}  // namespace solstice::codegen
