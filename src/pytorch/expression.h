// One equation's expressions as operators on whole tensors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/integers/integers.h"
#include "pytorch/body.h"
#include "pytorch/value.h"

namespace solstice::pytorch {

inline constexpr int64_t kMostElements = int64_t{1} << 31;

class Writer {
 public:
  // `step`: the index that a loop runs over, and its name there; -1: there is none.
  Writer(Body& body, const ir::Equation& equation, int step = -1, std::string step_name = "");

  Result<Value> write(const ir::ExprRef& e);
  // Of a narrow float that is read, its own dtype is left as it is.
  Result<Value> write_raw(const ir::ExprRef& e);

  // With a dimension for each of `axes`, of full extent.
  Value expanded(const Value& v, const std::vector<int>& axes);
  Value of_kind(const Value& v, ir::ValueKind kind);
  std::vector<int> united(const std::vector<int>& a, const std::vector<int>& b) const;
  std::vector<int64_t> extents_of(const std::vector<int>& axes) const;
  Result<Value> index_tensor(int id);
  Error refusal(const std::string& why) const;
  int64_t extent(int id) const { return equation_.indices[static_cast<size_t>(id)].extent; }
  bool is_step(int id) const { return id == step_; }

 private:
  friend class Reader;
  friend class Reduction;

  Result<Value> compute(const ir::ExprRef& e);
  Result<Value> arithmetic(const ir::Expr& e);
  Result<Value> unary(const ir::Expr& e);
  Result<Value> binary(const ir::Expr& e);
  Result<Value> power(const ir::Expr& e);
  Result<Value> whole_division(const ir::Expr& e);
  Result<Value> rounded(const ir::Expr& e);
  Result<Value> call_of_two(const ir::Expr& e);
  Result<Value> logical(const ir::Expr& e);
  Result<Value> compare(const ir::Expr& e);
  Result<Value> select(const ir::Expr& e);
  Result<Value> cast(const ir::Expr& e);
  std::optional<Result<Value>> named_function(const ir::ExprRef& e);

  // Text of an operator between two, of the kind of both.
  Value joined(const Value& a, const char* op, const Value& b, int level, ir::ValueKind kind);
  Value called(const std::string& function, const Value& v, ir::ValueKind kind);
  Value tensor_of(const Value& v);
  Value named(Value v);  // short enough to stand in another
  Value masked(const Value& condition, const Value& v, const std::string& otherwise);
  Value where(const Value& condition, const Value& a, const Value& b);
  void enter(int id);
  DType dtype_of(ir::ValueKind kind, const Value& a, const Value& b) const;

  Body& body_;
  const ir::Equation& equation_;
  ir::Integers integers_;
  const int step_;
  const std::string step_name_;
  std::map<int, int> places_;  // of indices in scope
  int guards_ = 0;             // conditions around: what they exclude is computed too, and not used
  std::unordered_map<const ir::Expr*, int> uses_;
  std::unordered_map<const ir::Expr*, Value> known_, guarded_;  // guarded: usable below conditions alone
};

}  // namespace solstice::pytorch
