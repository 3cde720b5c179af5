// Results along an outer index taken together by one thread, where their windows overlap: the kernel's equations, once
// for each of `rows` neighbours, over an index of so many fewer steps. What neighbours read in common is then loaded
// once.
#pragma once

#include <vector>

#include "base/result.h"
#include "codegen/flatten.h"
#include "ir/program.h"

namespace solstice::families::elementwise {

// For each equation, the free index, other than the innermost, along which windows overlap most; -1: none.
std::vector<int> overlapping(const ir::Program& program, const codegen::FlatKernel& flat);

// Error illegal_knobs: windows of an equation overlap along no outer index, or `rows` does not divide its extent.
Result<codegen::FlatKernel> stacked(const ir::Program& program, codegen::FlatKernel flat, int rows);

}  // namespace solstice::families::elementwise
