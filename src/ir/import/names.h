// Gives the tensors and dims of a finished draft their names.
#pragma once

#include <string>

#include "ir/import/draft.h"
#include "ir/import/shape_text.h"

namespace solstice::ir::importer {

// Sets DraftTensor::name. Wishes are made unique and legal; equal wishes of parameters are numbered from 1.
void name_tensors(Draft& draft);

// Names the dims that the draft mentions, and those of `given`, and settles which follow from others.
struct DimNames {
  Names names;
  std::vector<DimId> order;  // each after those of its formula
};
DimNames name_dims(Draft& draft, const std::vector<DimId>& given = {});

}  // namespace solstice::ir::importer
