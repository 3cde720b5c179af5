// Digits of outputs merged into the axes of the module's result (DraftTensor::merged).
#pragma once

#include <vector>

#include "import/draft/draft.h"

namespace solstice::importer {

// Shape and indices of a tensor with its digits merged.
std::vector<Size> final_shape(const DraftTensor& tensor);
std::vector<Index> final_indices(const DraftTensor& tensor, const std::vector<Index>& indices);

}  // namespace solstice::importer
