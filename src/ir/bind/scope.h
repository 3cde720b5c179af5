// State of the binder while it works (private to src/ir/bind).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/integers/integers.h"
#include "ir/program.h"
#include "lang/tree.h"

namespace solstice::ir {

// One `view` equation: the elements lhs(free) of the view are rhs(free).
struct ViewPiece {
  std::vector<Affine> lhs;
  std::vector<Index> indices;
  ExprRef rhs;
};

struct View {
  std::string name;
  ValueKind kind = ValueKind::kReal;
  std::vector<int64_t> shape;
  std::vector<ViewPiece> pieces;
  Span span;
};

// Meaning of a tensor's name in a scope.
struct Symbol {
  int tensor = -1;
  int view = -1;                  // if it is one
  std::vector<int64_t> fixed;     // leading indices that a call fixed
  std::vector<std::string> dims;  // the remaining extents as they are written in this scope
  bool read_only = false;         // a formal of a def
};

struct DimEntry {
  int64_t value = 0;    // 1 where a mistake keeps it from being known
  lang::ExprRef outer;  // the same extent in top-level terms
  std::string caller;   // the dim that it is in the calling scope, "" if none
  bool known = true;
};

struct Scope {
  std::string instance;  // unique prefix of the names defined here, "" at top level
  std::string path;      // prefix of module paths
  std::map<std::string, DimEntry> dims;
  std::map<std::string, Symbol> symbols;
  std::vector<std::string> named;  // symbols in the order in which they came
  struct Gone {
    std::string kernel;
    bool declared = false;
  };
  std::map<std::string, Gone> gone;  // names that finished kernels defined, for E011
  std::map<std::pair<std::string, size_t>, const lang::Fn*> functions;
  std::map<std::string, std::vector<lang::Knob>> overrides;  // of this instance's kernels
  std::map<std::string, Symbol> results;                     // of a def: where its results go
};

// An index that fills a dimension of a read alone.
struct BareUse {
  int index = -1;
  std::string name;  // the tensor or view as written
  Symbol symbol;
  size_t dimension = 0;  // as written, without fixed ones
  Span span;
};

// A read as written, to be proved in range.
struct SourceRead {
  std::string name;
  Symbol symbol;
  int rank_binder = -1;  // a rank instead: must lie in the extent of this index
  std::vector<ExprRef> indices;
  std::vector<Fact> facts;
  Span span;
};

// A read of a tensor after views were folded.
struct TensorRead {
  ExprRef read;
  std::vector<Fact> facts;
  Span span;
};

// An equation on its way.
struct Draft {
  const lang::Equation* source = nullptr;
  Equation equation;
  std::vector<Span> index_spans;
  std::vector<bool> given;  // extent written by the user
  std::vector<BareUse> bare;
  std::vector<SourceRead> checks;
  std::vector<TensorRead> reads;
  std::set<std::string> unbound;  // names reported as E004
  bool failed = false;            // an error was reported; no further rules are applied
  bool extents_known = false;
};

// State of a tensor beyond ir::Tensor.
struct TensorState {
  bool poisoned = false;             // its definition had an error
  std::optional<ValueRange> values;  // of its integers, where the program fixes them
  std::vector<int> writers;          // equation ids
  std::vector<TensorRead> early_reads;
};

}  // namespace solstice::ir
