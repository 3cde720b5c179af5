// Closed forms of buffers (record/graph.h) as the equations of `assume` items.
#pragma once

#include "import/draft/draft.h"

namespace solstice::importer {

// mask[0,0,i,j] = j <= i. The tensor has a closed form.
DraftEquation closed_form_equation(Draft& draft, int tensor);

}  // namespace solstice::importer
