// Draft: the program being imported, before names are given. Rules add tensors and equations; text/emit.h turns the
// draft into text. Locals have one dimension for each digit of their value; when a local becomes an output of the
// program, its digits are merged into the output's axes (`merged`).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "import/draft/value.h"
#include "import/draft/value_bounds.h"
#include "record/graph.h"

namespace solstice::importer {

enum class DraftKind { kParam, kBuffer, kInput, kOutput, kTensor, kLocal, kRandom };

struct DraftTensor {
  DraftKind kind = DraftKind::kLocal;
  std::string wish;  // preferred name
  DType dtype = DType::kF32;
  std::vector<Size> shape;
  std::string path;                       // module path of a param or buffer
  std::vector<int64_t> strides;           // of an interface tensor that is not row-major
  std::string distribution;               // of a random tensor: "bernoulli(0.9)"
  int into = -1;                          // state update: the buffer it replaces
  int same = -1;                          // shares storage with this tensor
  std::optional<ClosedForm> closed_form;  // of a buffer: what an `assume` says of it
  // The dimensions that make up each axis of a local that became an output or a state update, outermost first.
  std::vector<std::vector<int>> merged;
  bool is_merged = false;
  // The def, the tensor there and the path of the call, of a tensor that only this call knows. It has no declaration
  // and no equation here any more.
  int def = -1;
  int def_tensor = -1;
  std::string at;
  bool is_result = false;  // of a call, which declares it
  int rolled = -1;         // of one step of a loop: the tensor that holds all steps, and stands for this one
  int steps_in = -1;       // the same tensor, also where this one is kept as a copy
  int64_t step = -1;       // its place there
  std::string name;        // given by emit; as the bound program has it
};

struct DraftEquation {
  int tensor = -1;
  std::vector<Index> lhs;
  TermRef rhs;
};

// PyTorch runs it: results = "op"(arguments).
struct DraftOpaque {
  std::string op;
  std::vector<int> results;
  struct Argument {
    std::string name;
    int tensor = -1;  // -1: `text` is the value
    std::string text;
  };
  std::vector<Argument> arguments;
};

// results = def[statics](arguments) at "path".
struct DraftCall {
  int def = -1;  // index into the program's defs, also where the call stands in a def
  std::vector<int> arguments, results;
  std::vector<Size> statics;
  std::string at;
};

struct DraftItem {
  int node = -1;           // index of the graph's node, -1: the importer's own copy
  int opaque = -1;         // index into opaques; -1: `equation`, or `call`
  int call = -1;           // index into calls
  bool is_placed = true;   // the node's source line is that of every instance
  bool is_rolled = false;  // one step of a loop, over the loop's index
  DraftEquation equation;

  bool is_equation() const { return opaque < 0 && call < 0; }
};

class Draft;

// A block that occurs several times. The body has dims of its own; formals are inputs there, results outputs.
struct DraftDef {
  std::string name;
  std::string at;  // path of the instance that its comments speak of
  std::unique_ptr<Draft> body;
  std::vector<int> formals, results;
  struct Static {
    DimId dim = -1;
    std::optional<int64_t> value;  // the same in all calls
  };
  std::vector<Static> statics;
  std::vector<std::string> static_names;  // given by emit
};

class Draft {
 public:
  Draft() : loops_(dims_) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Dims& dims() { return dims_; }
  const Dims& dims() const { return dims_; }
  Loops& loops() { return loops_; }
  const Loops& loops() const { return loops_; }

  int add(DraftTensor tensor);
  // A tensor of the interface and the value that reads it. Extents get dims of their own.
  Value interface_tensor(DraftTensor tensor, const std::vector<int64_t>& shape);
  // A local: tensor[digits of axes] = rhs.
  Value define(const std::string& wish, std::vector<Axis> axes, TermRef rhs, DType dtype);
  // The same, but with one dimension for each axis where an axis has several digits (y[n, D*g+k] = ..).
  Value define_merged(const std::string& wish, const std::vector<Axis>& axes, TermRef rhs, DType dtype);
  // A declared tensor with exactly one dimension for each axis, extent 1 included.
  Value define_declared(const std::string& wish, const std::vector<Axis>& axes, TermRef rhs, DType dtype);
  // A declared tensor to be written in pieces, and its value.
  int declare(const std::string& wish, const std::vector<Axis>& axes, DType dtype);
  Value whole(int tensor, const std::vector<Axis>& axes) const;
  void write(int tensor, std::vector<Index> lhs, TermRef rhs);

  // The value as a tensor with one dimension for each axis, copied only if it is not one already.
  Value stored(const Value& value, const std::string& wish);
  // The tensor that the value is, axis by axis; -1 if it is anything else.
  int direct_tensor(const Value& value) const;
  // A position along `axis` is a position along one dimension of a tensor, so that a read may run over its ends.
  bool is_direct_axis(const Value& value, int axis) const;

  // Makes `value` readable beyond the ends of `axes`: itself, or a stored copy of it.
  Value paddable(const Value& value, const std::vector<int>& axes);
  // A read that yields `otherwise` where a position is out of range; `value` is paddable there.
  TermRef read_padded(const Value& value, const std::vector<Index>& at, TermRef otherwise) const;

  std::vector<DraftTensor> tensors;
  std::vector<DraftItem> items;
  std::vector<DraftOpaque> opaques;
  std::vector<DraftCall> calls;
  std::vector<DraftDef> defs;  // of the program; each calls only those before it
  std::vector<int> results;    // the output tensors in the order of the module's results
  int node = -1;               // the graph's node whose items are being added
  mutable KnownBounds bounds;  // of tensors, by value_range.h

 private:
  Dims dims_;
  Loops loops_;
};

std::vector<Index> flat_all(const std::vector<Axis>& axes, const Loops& loops);

}  // namespace solstice::importer
