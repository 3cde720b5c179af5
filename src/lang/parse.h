// Text to tree. Mistakes become diagnostics (E000 for the grammar, E009 for `sum(x, dim=1)`), several a run;
// the items that could be read are returned either way, so a tree with errors reported must not be bound or
// printed back.
#pragma once

#include <string_view>

#include "base/diagnostic.h"
#include "lang/tree.h"

namespace solstice::lang {

Program parse(std::string_view source, Diagnostics& diagnostics);

// One expression; null if it has mistakes.
ExprRef parse_expression(std::string_view source, Diagnostics& diagnostics);

// The knobs of a clause, as they stand between its parentheses.
std::vector<Knob> parse_knobs(std::string_view source, Diagnostics& diagnostics);

}  // namespace solstice::lang
