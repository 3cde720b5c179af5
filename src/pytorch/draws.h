// Values for a program's inputs, parameters and buffers: as its equations can take them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "ir/program.h"

namespace solstice::pytorch {

class Draws {
 public:
  explicit Draws(const ir::Program& program);

  // Text of a tensor of the declared shape, strides and dtype.
  std::string text_of(const ir::Tensor& t) const;

 private:
  struct Range {
    int64_t low = 0, high = 0;
  };

  void visit(const ir::Equation& e, const ir::ExprRef& root);
  void visit_read(const ir::Equation& e, const ir::Expr& read);
  void visit_comparison(const ir::Equation& e, const ir::Expr& comparison);
  void visit_sum(const ir::Equation& e, const ir::Expr& sum);
  // The integers below `e` are to let it lie within the range.
  void require(const ir::Equation& equation, const ir::ExprRef& e, Range range, int depth = 0);
  // The floats below it are to let it be positive.
  void require_positive(const ir::Equation& equation, const ir::ExprRef& e, int depth = 0);
  void narrow(int tensor, Range range);
  std::string integers(const ir::Tensor& t, const std::string& shape) const;
  std::string floats(const ir::Tensor& t, const std::string& shape) const;

  const ir::Program& program_;
  std::map<int, Range> ranges_;
  std::set<int> positive_;
  std::map<int, int64_t> summed_;  // elements of a parameter that a sum adds up
};

}  // namespace solstice::pytorch
