// Constant tensors: what `forward` makes from Python numbers (`torch.tensor(0.5)`), with contents in the graph.
#pragma once

#include <optional>
#include <vector>

#include "import/draft/draft.h"
#include "record/graph.h"

namespace solstice::importer {

// The elements in row-major order; nothing where the graph has no contents or no number form exists (8-bit floats).
// Integers beyond 2^53 have none either. The tensor's dtype is a real one. Errors: bad_record for contents of another
// size than the tensor's.
Result<std::optional<std::vector<double>>> constant_elements(const GraphInput& input);

// The constant without a tensor of the interface: a literal where all elements are equal, an equation an element where
// there are few. Nothing for others.
Result<std::optional<Value>> folded_constant(const GraphInput& input, Draft& draft);

}  // namespace solstice::importer
