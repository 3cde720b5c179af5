// Between the elements of a tensor and the index values of the equation that defines them.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

class Places {
 public:
  Places(const Program& program, const Equation& equation);

  // Values of the free indices at the element, in the equation's order; false if the equation does not define it.
  bool solve(int64_t position, std::vector<int64_t>& values) const;
  int64_t position(const std::vector<int64_t>& values) const;

 private:
  struct Term {
    size_t index;  // among the free indices
    int64_t coefficient;
    int64_t extent;
  };
  struct Dim {
    int64_t extent = 0;
    int64_t offset = 0;
    std::vector<Term> terms;  // largest coefficients first: a mixed radix (the rules of cover)
  };

  std::vector<Dim> dims_;
  size_t free_ = 0;
};

}  // namespace solstice::ir
