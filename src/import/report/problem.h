// An imported problem: its text, and the places of its tensors in the graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "import/graph/source.h"
#include "record/graph.h"

namespace solstice::importer {

struct UnsupportedOp {
  std::string op;
  std::string why;
  ImportSource source;
  std::string node = {};  // graph id; "" for what is no call
};

// An interface tensor of the program and its counterpart in the graph.
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
  std::string node = {};  // graph id
};

struct BufferMutation {
  std::string tensor;  // the state update
  std::string buffer;  // program name of what it replaces
  std::string target;  // its module path
};

// The operator that an equation's tensor comes from.
struct Origin {
  std::string tensor;
  std::string node;  // graph id
  std::string op;
  ImportSource source;
};

// Form of an imported problem. Both mean the same.
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

}  // namespace solstice::importer
