// Makes a def of blocks that have one key, and the call that stands for each.
#pragma once

#include "import/defs/block.h"
#include "record/graph.h"

namespace solstice::importer {

// Appends to draft.defs and draft.calls; returns the calls, block by block. The items stay as they are.
std::vector<int> define(Draft& draft, const Graph& graph, const std::vector<Block>& blocks, const std::string& name);

}  // namespace solstice::importer
