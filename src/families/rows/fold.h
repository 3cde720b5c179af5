// The second kernel of a reduction whose rows are taken in parts: one block a row folds what the parts' blocks found
// and evaluates the row's outputs.
#pragma once

#include <vector>

#include "base/result.h"
#include "families/fold_text.h"
#include "families/reduction/reduction_text.h"
#include "families/reduction/shape.h"

namespace solstice::families::rows {

using namespace reduction;

Result<FoldLaunch> emit_fold(const ir::Program& program, const ir::Kernel& kernel, Shape& shape,
                             const std::vector<Partial>& partials, int parts);

}  // namespace solstice::families::rows
