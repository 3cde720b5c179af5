// The importer: a traced graph becomes a μCUTLASS problem, one group of equations for each operator.
//
// Promises. Meaning is kept as PyTorch defines it in the traced mode (batch statistics and running buffers in train
// mode, biased variances, floor divisions, scalars as its kernels take them); every shape a rule computes is checked
// against the recorded one. Operators without a rule become `opaque` items and are listed in `unsupported`.
// Views cost nothing: they are folded into the reads. Dims are named by role. Dead operators are left out; parameters
// nobody reads are declared all the same. The text is meant for src/lang to parse and ir/bind.h to check.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "import/report/problem.h"
#include "record/graph.h"

namespace solstice::importer {

// The text binds. Errors: unsupported_operator for what no program can hold (complex or empty tensors), bad_record,
// internal for a rule whose shape differs from PyTorch's, or whose equations the language refuses. Names of tensors are
// those of the bound program: `layer1.0.bn1.g` is the `g` of the def called at "layer1.0.bn1".
Result<ImportedProblem> import_graph(const Graph& graph, ImportForm form = ImportForm::kFlat);

// The calls of a graph that have no equations, also of one that import_graph() refuses with unsupported_operator: then
// those are among them that yield, read or are a result of a kind that no program can hold.
std::vector<UnsupportedOp> unsupported_calls(const Graph& graph);

// The operators that have equations, group by group.
struct OperatorInfo {
  std::string group;
  std::string op;
};
std::vector<OperatorInfo> list_operators();

}  // namespace solstice::importer
