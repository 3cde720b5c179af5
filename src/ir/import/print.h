// Writes the equations of a draft as μCUTLASS. Tensors and dims carry their names by now.
#pragma once

#include <string>

#include "ir/import/draft.h"
#include "ir/import/shape_text.h"

namespace solstice::ir::importer {

std::string equation_text(const Draft& draft, const DraftEquation& equation, const Names& names);

}  // namespace solstice::ir::importer
