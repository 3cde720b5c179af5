// Reductions and rankings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pytorch/expression.h"

namespace solstice::pytorch {

class Reduction {
 public:
  Reduction(Writer& writer, const ir::Expr& e);

  Result<Value> write();
  Result<Value> rank();

 private:
  Result<std::optional<Value>> product();
  Result<std::optional<Value>> running();
  Result<std::optional<Value>> scattered();
  Result<std::optional<Value>> convolution();
  Result<Value> whole();
  bool runs_apart() const;

  Result<std::vector<Value>> factors_of(const ir::ExprRef& body);
  Value einsum(const std::vector<Value>& factors, const std::vector<int>& result);
  Status mask_factors(std::vector<Value>& factors);
  Result<Value> condition();
  Value reduced(const Value& v, const std::string& method, const std::string& more = "");
  Value mean(const Value& v, const std::optional<Value>& condition);
  Value count(const Value& condition, const std::vector<int>& axes);
  std::string dims_of(const Value& v) const;
  std::vector<int> kept(const std::vector<int>& axes) const;
  Status check_size(const std::vector<int>& axes) const;
  std::string identity() const;

  Writer& w_;
  const ir::Expr& e_;
  ir::ExprRef where_;  // null: none
};

}  // namespace solstice::pytorch
