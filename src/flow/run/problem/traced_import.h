// Import with decomposition on demand: operators without equations that PyTorch can break up (the graph's
// `producer.decomposable`) are sent back by name, and only they are decomposed. A decomposition is kept where it leaves
// fewer operators without equations.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "import/import.h"
#include "record/graph.h"

namespace solstice::flow {

struct TracedImport {
  Graph graph;
  std::optional<Graph> whole;  // before operators were broken up, where `graph` has some in pieces
  importer::ImportedProblem imported;
  std::optional<Error> refused;  // no program can hold the graph: of `imported` there is only `unsupported`
};

// A trace of the same module in which the named operators are broken up; none at first.
using Tracer = std::function<Result<Graph>(const std::vector<std::string>& decompose)>;

// Errors: those of the first trace and its import but unsupported_operator, which is `refused`. A decomposition that
// fails is a note, one that is stopped an error.
Result<TracedImport> import_traced(const Tracer& trace, importer::ImportForm form = importer::ImportForm::kFlat);

// What the whole module lacks is shown with its file.
Error of_file(Error error, const std::filesystem::path& file);

}  // namespace solstice::flow
