// Output of `solstice bench search`.
#pragma once

#include <string>

#include "record/search_bench.h"

namespace solstice::cli {

// One search in a line.
std::string search_row_text(const SearchRow& row);

// The policies beside each other, over all problems; where times were predicted it says so.
std::string standings_text(const SearchBench& bench);

}  // namespace solstice::cli
