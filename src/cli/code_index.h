// The code index of commands, and how they print code.
#pragma once

#include <vector>

#include "codesearch/codesearch.h"

namespace solstice::cli {

// The user's index; what is built is told on stderr.
Result<codesearch::CodeIndex> code_index();

void print_lines(const std::vector<codesearch::CodeLine>& lines);

}  // namespace solstice::cli
