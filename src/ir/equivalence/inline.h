// Definitions substituted into their reads, up to cut points.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

class Inliner {
 public:
  explicit Inliner(const Program& program);

  // The equation with every read replaced by its definition, except reads of `cuts`, of the interface, of opaque
  // results and recurrences, of tensors in several pieces and reads with `else`. Nothing where it would grow too large.
  std::optional<Equation> inlined(int equation, const std::set<int>& cuts);

 private:
  const Equation* definition(int tensor) const;
  ExprRef rewrite(const ExprRef& e);
  ExprRef instance(const Equation& definition_of, const std::vector<ExprRef>& at);
  ExprRef transplanted(const Equation& from, const ExprRef& e, std::map<int, ExprRef>& values);

  const Program& program_;
  std::map<int, std::vector<int>> writers_;
  const std::set<int>* cuts_ = nullptr;
  Equation* equation_ = nullptr;
  int nodes_ = 0;
};

}  // namespace solstice::ir
