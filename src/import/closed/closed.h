// Values of closed forms (terms that read no tensor), as the language means them.
#pragma once

#include <optional>
#include <vector>

#include "import/draft/term.h"

namespace solstice::importer {

// Each term at every point of the loops that all of them have together, in one order. Nothing where there are too many
// points, or where the language stops at one of them.
std::optional<std::vector<std::vector<double>>> evaluated(const Terms& closed);

}  // namespace solstice::importer
