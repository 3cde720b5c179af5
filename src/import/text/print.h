// Writes the equations of a draft as μCUTLASS. Tensors and dims carry their names by now.
#pragma once

#include <string>

#include "import/draft/draft.h"
#include "import/text/shape_text.h"

namespace solstice::importer {

std::string equation_text(const Draft& draft, const DraftEquation& equation, const Names& names);

}  // namespace solstice::importer
