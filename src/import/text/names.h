// Gives the tensors and dims of a finished draft their names.
#pragma once

#include <string>

#include "import/draft/draft.h"
#include "import/text/shape_text.h"

namespace solstice::importer {

// Sets DraftTensor::name. Wishes are made unique and legal; equal wishes of parameters are numbered from 1.
void name_tensors(Draft& draft);

// Names the dims that the draft mentions, and those of `given`, and settles which follow from others.
struct DimNames {
  Names names;
  std::vector<DimId> order;  // each after those of its formula
};
DimNames name_dims(Draft& draft, const std::vector<DimId>& given = {});

}  // namespace solstice::importer
