// The interface of the program being imported: parameters, buffers, constants and inputs become tensors before the
// first rule runs; results and state updates are settled after the last.
#pragma once

#include "import/call/call.h"
#include "import/report/problem.h"

namespace solstice::importer {

struct InterfaceTensor {
  ImportedInput input;  // its `tensor` is filled in when names are given
  int tensor = -1;
};

// Declares everything the graph's interface has, in its order, and binds the values.
Result<std::vector<InterfaceTensor>> declare_interface(const Graph& graph, Draft& draft, Values& values);

// Makes `value` a tensor that leaves the program, renaming the local that it is, or copying it.
int settle_result(Draft& draft, const Value& value, const std::string& wish, DraftKind kind);

// Removes the equations that nothing leaving the program needs; returns the graph nodes that lost theirs.
std::vector<int> remove_dead(Draft& draft);

}  // namespace solstice::importer
