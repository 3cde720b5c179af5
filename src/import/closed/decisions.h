// Decisions behind several operations of a narrow format. PyTorch stores what each operation yields, so two sums that
// differ over the reals may tie in bf16. Where a comparison, an argmax, a ranking or a cast reads a value, all values
// of f16 and bf16 from which elementwise operations compute it are rounded operation by operation. What a reduction
// yields is rounded, what it reads is not: its order, and with it the last bits, is PyTorch's own.
#pragma once

#include <vector>

#include "import/draft/draft.h"

namespace solstice::importer {

// `results` tells, of each tensor, whether it is what a node of the graph yields; the importer's own steps within an
// operation are not rounded.
void round_decided(Draft& draft, const std::vector<bool>& results);

}  // namespace solstice::importer
