// Gives the tensors and dims of a finished draft their names.
#pragma once

#include <string>

#include "ir/import/draft.h"
#include "ir/import/shape_text.h"

namespace solstice::ir::importer {

// Sets DraftTensor::name. Wishes are made unique and legal; equal wishes of parameters are numbered from 1.
void name_tensors(Draft& draft);

// Names the dims that the program mentions and settles which follow from others. `lines` are the `dim` items.
struct DimNames {
  Names names;
  std::vector<std::string> lines;
};
DimNames name_dims(Draft& draft);

}  // namespace solstice::ir::importer
