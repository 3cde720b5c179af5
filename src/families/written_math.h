// `math` as a user wrote it, for families and backends that take it as it stands: no less accurate than `numerics`
// asks.
#pragma once

#include "families/family.h"
#include "numerics/policy.h"

namespace solstice::families {

// Nothing is reported of `auto`, or of a word that is no math (E102 is). `own`: what PyTorch multiplies f32 with here.
void check_math(const Context& context, const ir::Kernel& kernel, DType operands, numerics::OwnMath own,
                Diagnostics& diagnostics);
std::vector<RuleText> math_rules();

// The text of E110.
std::string less_accurate(numerics::Math math, const std::vector<numerics::Math>& legal, DType operands,
                          std::string_view numerics);

}  // namespace solstice::families
