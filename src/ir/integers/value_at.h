// The value of an integer expression, or a condition, at one point of its indices (private to src/ir/integers).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// Nothing where the value depends on a tensor, does not fit, or is a reduction's.
std::optional<int64_t> value_at(const ExprRef& expression, const std::vector<int64_t>& indices);

}  // namespace solstice::ir
