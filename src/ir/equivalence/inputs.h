// Inputs as functions of a tensor's name, the element, a family of values and a seed: the same values whether they fill
// an array or are computed where they are read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/equivalence/uses.h"
#include "ir/interpret.h"
#include "ir/program.h"

namespace solstice::ir {

// Families after input_families(): other scales, for branches that the plain ones never take.
int rescaled_families();
// And those whose values lie beyond every literal that decides something, where there are any that plain ones do not
// reach.
std::vector<int> families_beyond(const Uses& uses);

class InputFunctions {
 public:
  // Integers that keep gathers in range; in some families negative ones and larger ones; in one of those of any size;
  // of the sizes below.
  enum class Integers { kInRange, kWide, kAnySize, kSized };
  static constexpr std::array kSizes = {7, 8, 15, 16, 24, 26, 31, 32, 40, 48, 52, 53, 62};  // powers of two
  static constexpr int kFamilyOfAnySize = 3;
  InputFunctions(const Program& program, int family, uint64_t seed)
      : InputFunctions(program, Uses(program), family, seed) {}
  InputFunctions(const Program& program, const Uses& uses, int family, uint64_t seed,
                 Integers integers = Integers::kInRange, int size = 0);

  // Params, buffers, inputs, draws and results of opaque operations.
  bool is_input(int tensor) const { return rules_[static_cast<size_t>(tensor)].given; }
  // Elements at the row-major positions `at`.
  void evaluate(int tensor, const int64_t* at, int64_t n, double* out) const;

 private:
  // An element stands at this place of a row-major tensor whose storage it shares.
  struct Shared {
    int tensor;
    int64_t offset;
    std::vector<int64_t> shape, strides;
    int64_t place(int64_t position) const;
  };
  struct Row {
    int64_t stride, extent;
    bool extremal;  // an extremum is taken of it
  };
  struct Rule {
    bool given = false;
    std::optional<Shared> shared;
    ValueKind kind = ValueKind::kReal;
    std::optional<DType> stored;  // of reals: the format that holds them
    bool negative = false;        // beyond literals
    uint64_t key = 0;
    int64_t below = 2;            // of integers
    double least = 0, most = 0;   // values that the type holds
    std::vector<double> special;  // values that decide something
    std::vector<Row> rows;        // along long dimensions
  };
  double integer(const Rule& rule, uint64_t hash) const;
  double any_integer(const Rule& rule, uint64_t choice) const;
  double sized_integer(const Rule& rule, uint64_t choice) const;
  double wide_integer(const Rule& rule, uint64_t choice) const;
  double real(const Rule& rule, int64_t at, uint64_t hash) const;
  double next_to(const Rule& rule, uint64_t choice) const;
  double at_ends(const Rule& rule, int64_t at, double v) const;
  int64_t place_in_row(uint64_t choice, int64_t extent) const;

  int family_;
  Integers integers_;
  int size_;                     // of kSizes
  std::vector<double> numbers_;  // that integers are compared or computed with
  double beyond_;
  std::vector<int64_t> places_;  // of rows that decide something
  std::vector<Rule> rules_;
};

// All elements. Buffers with an assumed closed form hold it.
TensorValues all_values(const Program& program, const InputFunctions& inputs);

}  // namespace solstice::ir
