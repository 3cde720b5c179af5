// Substitution of loops in indices and terms, and the loops that they hold.
#pragma once

#include <map>

#include "import/shape/expression.h"

namespace solstice::importer {

using Substitution = std::map<int, Index>;  // loop id -> its replacement
Index substitute(const Index& index, const Substitution& by, const Dims& dims);
TermRef substitute(const TermRef& term, const Substitution& by, const Dims& dims);

// Every loop, those inside divisions and gathers and those that a reduction binds included.
void collect_loops(const Index& index, std::map<int, Loop>& out);
void collect_loops(const TermRef& term, std::map<int, Loop>& out);

}  // namespace solstice::importer
