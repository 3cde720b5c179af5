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
#include "record/graph.h"

namespace solstice::importer {

// Place in the user's code; file "" where the trace has none.
struct ImportSource {
  std::string module;  // path of the module that called the operator
  std::string file;
  int line = 0;
};

struct UnsupportedOp {
  std::string op;
  std::string why;
  ImportSource source;
};

struct ImportNote {
  std::string text;
  ImportSource source;
};

// An interface tensor of the program and what it is in the graph.
struct ImportedInput {
  std::string tensor;  // name in the program; "" for what is no tensor, and for a constant in the equations
  std::string graph_id;
  GraphInputKind kind = GraphInputKind::kUser;
  std::string fqn;       // of a parameter, buffer or constant
  int position = -1;     // among the user's inputs
  int64_t storage = -1;  // equal numbers share memory
};

struct ImportedOutput {
  std::string tensor;  // "" for a constant
  Json constant;
};

// A tensor that PyTorch draws, in the order of the draws.
struct Draw {
  std::string tensor;
  std::string op;
  std::vector<int64_t> shape;
  ImportSource source;
};

struct BufferMutation {
  std::string tensor;  // the state update
  std::string buffer;  // program name of what it replaces
  std::string target;  // its module path
};

// Which operator an equation's tensor comes from.
struct Origin {
  std::string tensor;
  std::string node;  // graph id
  std::string op;
  ImportSource source;
};

// How a problem is written. Both forms mean the same.
enum class ImportForm {
  kFlat,    // one equation for each operation of the graph, which schedules can take apart
  kFolded,  // for people: repeated blocks are calls of a `def`
};

struct ImportedProblem {
  std::string text;
  ImportForm form = ImportForm::kFlat;  // flat, with a note, where the folded text would not bind
  std::vector<UnsupportedOp> unsupported;
  std::vector<ImportNote> notes;
  std::vector<ImportedInput> inputs;    // in the program's order
  std::vector<ImportedOutput> outputs;  // in the order of the module's results
  std::vector<BufferMutation> mutations;
  std::vector<Draw> draws;
  std::vector<Origin> origins;
};

// The text binds. Errors: unsupported_operator for what no program can hold (complex or empty tensors), bad_record,
// internal for a rule whose shape differs from PyTorch's, or whose equations the language refuses. Names of tensors are
// those of the bound program: `layer1.0.bn1.g` is the `g` of the def called at "layer1.0.bn1".
Result<ImportedProblem> import_graph(const Graph& graph, ImportForm form = ImportForm::kFlat);

// The operators that have equations, group by group.
struct OperatorInfo {
  std::string group;
  std::string op;
};
std::vector<OperatorInfo> list_operators();

}  // namespace solstice::importer
