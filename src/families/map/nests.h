// The nests of a map kernel.
#pragma once

#include <vector>

#include "families/elementwise/nest.h"

namespace solstice::families::map {

using elementwise::Nest;
using elementwise::Settings;

// Errors: those of codegen::flatten, check_serial and elementwise::stacked.
Result<std::vector<Nest>> make_nests(const ir::Program& program, const ir::Kernel& kernel, const Settings& settings);
// Of a kernel that is flat already.
Result<std::vector<Nest>> make_nests(const ir::Program& program, codegen::FlatKernel flat, const Settings& settings);

}  // namespace solstice::families::map
