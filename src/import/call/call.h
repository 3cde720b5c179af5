// Call: one node of the graph as a rule sees it. Arguments by schema name, already converted; results go back through
// yield(). A rule that meets a variant it has no equations for returns unsupported(), and the node becomes opaque.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "import/draft/draft.h"
#include "record/graph.h"

namespace solstice::importer {

using Values = std::map<std::string, Value>;  // by graph id

// The part of an ATen operator between the dots: `_to_copy` of `aten._to_copy.default`.
std::string operator_name(const std::string& op);

class Call {
 public:
  Call(const GraphNode& node, const Graph& graph, Draft& draft, Values& values)
      : node_(node), graph_(graph), draft_(draft), values_(values) {}

  const GraphNode& node() const { return node_; }
  Draft& draft() { return draft_; }
  const Draft& draft() const { return draft_; }
  Loops& loops() { return draft_.loops(); }
  Dims& dims() { return draft_.dims(); }
  // Name for what this node yields: that of the torch.nn module it is the body of, else the operator's.
  std::string wish() const { return wish(operator_name().c_str()); }
  std::string wish(const char* otherwise) const;

  bool has(const char* name) const { return node_.args.find(name) != nullptr; }  // overloads differ in their arguments
  const Json& argument(const char* name) const;                                  // damage where there is none
  bool is_none(const char* name) const { return argument(name).is_null(); }
  Result<Value> tensor(const char* name) const;      // of reals, integers or truths
  Result<Value> any_number(const char* name) const;  // or of complex numbers
  bool is_row_major(const char* name) const;  // the tensor as PyTorch has it in memory, from the start of its storage
  Result<std::optional<Value>> maybe_tensor(const char* name) const;
  Result<Operands> tensors(const char* name) const;
  Result<std::vector<std::optional<Value>>> maybe_tensors(const char* name) const;  // a list, some of them None
  Result<Operands> tensors_with_elements(const char* name) const;                   // the others are left out
  Result<int64_t> integer(const char* name) const;   // below 2^56 in magnitude: sums of a few do not overflow
  Result<int64_t> position(const char* name) const;  // of a slice: far beyond the end means the end
  Result<double> number(const char* name) const;     // inf and nan included
  Result<bool> flag(const char* name) const;
  Result<std::string> text(const char* name) const;
  Result<int64_t> count(const char* name) const;  // an integer above 0
  // A list of `count` integers; one integer stands for all of them. count 0: any length.
  Result<Integers> integers(const char* name, size_t count = 0) const;
  Result<Integers> counts(const char* name, size_t count) const;           // above 0
  Result<int> axis(const char* name, int rank) const;                      // negative counts from the end
  Result<std::vector<int>> listed_axes(const char* name, int rank) const;  // as they are listed
  Result<std::vector<int>> axes(const char* name, int rank) const;         // ascending; none or empty: all
  // A Python scalar as it takes part in arithmetic of `dtype`: reals rounded as PyTorch does (f32 below f64).
  Result<TermRef> scalar(const char* name, DType dtype) const;

  Result<DType> out_dtype(size_t i = 0) const;
  Integers out_shape(size_t i = 0) const;
  bool fp8_saturates() const { return graph_.semantics.fp8_saturates; }
  int64_t out_extent(int axis) const;  // of the first result; negative counts from the end
  bool out_used(size_t i) const;
  Status yield(Value value) { return yield(0, std::move(value)); }
  Status yield(size_t i, Value value);  // checked against the recorded shape

  Error unsupported(const std::string& why) const;
  // Facts that the equations leave out, for the report of the import; only of a node that is not refused.
  void note(std::string what) { notes_.push_back(std::move(what)); }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string operator_name() const;
  Error bad_argument(const char* name, const char* wanted) const;
  Result<std::vector<std::string>> ids(const char* name) const;
  Result<Value> any_value(const std::string& id) const;
  Result<Value> value_of(const std::string& id) const;  // with elements
  Value folded(Value value);

  const GraphNode& node_;
  const Graph& graph_;
  Draft& draft_;
  Values& values_;
  std::vector<std::string> notes_;
};

// A real number as PyTorch's kernels take it where the result has `dtype`.
TermRef rounded_scalar(double value, DType dtype);

}  // namespace solstice::importer
