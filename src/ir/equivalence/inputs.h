// Inputs as functions of a tensor's name, the element, a family of values and a seed: the same values whether they fill an
// array or are computed where they are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace solstice::ir {

// Families beyond input_families(): other scales, for branches that the plain ones never take.
int rescaled_families();

class InputFunctions {
 public:
  InputFunctions(const Program& program, int family, uint64_t seed);

  // Params, buffers, inputs, draws and results of opaque operations.
  bool is_input(int tensor) const { return rules_[static_cast<size_t>(tensor)].given; }
  // Elements at the row-major positions `at`.
  void evaluate(int tensor, const int64_t* at, int64_t n, double* out) const;

 private:
  struct Rule {
    bool given = false;
    ValueKind kind = ValueKind::kReal;
    uint64_t key = 0;
    int64_t below = 2;            // of integers
    std::vector<double> special;  // integers that decide something
  };
  double integer(const Rule& rule, uint64_t hash) const;

  int family_;
  std::vector<Rule> rules_;
};

}  // namespace solstice::ir
