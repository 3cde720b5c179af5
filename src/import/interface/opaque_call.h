// Operators without equations.
#pragma once

#include <set>
#include <string>

#include "import/call/call.h"

namespace solstice::importer {

// It has no elements.
bool is_empty(const GraphTensor& tensor);

// The node as an item that PyTorch runs: tensors go by name, lists of numbers as text. Errors: unsupported_operator
// where no program can hold what it takes or yields.
Status add_opaque(const GraphNode& node, const Graph& graph, Draft& draft, Values& values);

// The node without an item: those of its results that a program can hold are tensors that nothing fills, the others
// `absent`.
void leave_out(const GraphNode& node, Draft& draft, Values& values, std::set<std::string>& absent);

}  // namespace solstice::importer
