// Inputs as functions of a tensor's name, the element, a family of values and a seed: the same values whether they fill an
// array or are computed where they are read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret.h"
#include "ir/program.h"

namespace solstice::ir {

// Families beyond input_families(): other scales, for branches that the plain ones never take.
int rescaled_families();

class InputFunctions {
 public:
  // Integers that keep gathers in range, or in some families negative ones and larger ones.
  enum class Integers { kInRange, kWide };
  InputFunctions(const Program& program, int family, uint64_t seed, Integers integers = Integers::kInRange);

  // Params, buffers, inputs, draws and results of opaque operations.
  bool is_input(int tensor) const { return rules_[static_cast<size_t>(tensor)].given; }
  // Elements at the row-major positions `at`.
  void evaluate(int tensor, const int64_t* at, int64_t n, double* out) const;

 private:
  struct Rule {
    bool given = false;
    ValueKind kind = ValueKind::kReal;
    uint64_t key = 0;
    int64_t below = 2;                              // of integers
    double least = 0, most = 0;                     // that the type holds
    std::vector<double> special;                    // values that decide something
    std::vector<std::pair<int64_t, int64_t>> rows;  // stride and extent of long dimensions
  };
  double integer(const Rule& rule, uint64_t hash) const;
  double wide_integer(const Rule& rule, uint64_t choice) const;
  double at_ends(const Rule& rule, int64_t at, double v) const;

  int family_;
  Integers integers_;
  std::vector<Rule> rules_;
};

TensorValues random_inputs(const Program& program, int family, uint64_t seed, InputFunctions::Integers integers);

}  // namespace solstice::ir
