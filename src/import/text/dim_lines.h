// The `dim` items of a program or a def, by the names that its dims have by now.
#pragma once

#include <string>
#include <vector>

#include "import/text/names.h"

namespace solstice::importer {

// Lines of all dims, or of those that have been printed and the dims that these follow from.
std::vector<std::string> dim_lines(const DimNames& names, const Dims& dims, bool only_printed);

}  // namespace solstice::importer
