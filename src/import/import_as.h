// One pass of the importer over a graph, with repetitions written once or not.
#pragma once

#include <vector>

#include "import/import.h"
#include "import/proof/unfolded.h"

namespace solstice::importer {

// Repetitions that are written once.
enum class Folding { kNone, kRecurrences, kAll };

struct Imported {
  ImportedProblem problem;
  std::vector<FoldedPlace> places;  // where each tensor is, in the order in which they were made
  bool folded = false;              // something may be written once
};

Result<Imported> import_as(const Graph& graph, Folding folding);

}  // namespace solstice::importer
