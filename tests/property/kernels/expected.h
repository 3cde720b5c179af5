// What a program's results have to be: the interpreter's values, and how far from them a kernel's may lie.
//
// A kernel's value may lie from the interpreter's, beside the rounding to its own storage, by
//     kMargin * (kOperations * u + e) * M
// where M is the sum of the absolute terms that the element is computed from, carried through functions by their
// derivatives (ir/equivalence/magnitude.h), u the unit roundoff of what is computed in (fp32's; fp64's where every real
// tensor is f64; that of a narrower tensor that the program stores and reads again), and e the modelled error
// (numerics/error_model.h) of the longest sum that it depends on, by the least accurate math that the program's policy
// allows for its operands (fp32's where a factor is computed), but at least four steps of fp32's subnormal numbers.
// Integers, booleans and results of exact programs have no room: an exact program's result is the interpreter's,
// rounded to its storage.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"
#include "property/kernels/sample.h"

namespace solstice::random_kernels {

inline constexpr double kMargin = 8;      // of single elements over the model's root mean square
inline constexpr double kOperations = 4;  // roundings, beside the sum's, of what an element passes through
inline constexpr double kFunctions = 4;   // of short values (codegen/short_values.h) that it passes through

struct Wanted {
  std::vector<double> values;
  std::vector<double>
      limits;  // of |computed - value|; NaN where nothing is asked. Empty: `values` are rounded, and it is them
};

struct Expected {
  ir::TensorValues inputs;
  std::map<std::string, Wanted> outputs;
};

// What rounding to a format may add to a value of at most this size.
double storage_error(DType dtype, double size);

// Inputs of the sample's seed. Elements that share an address have one value.
ir::TensorValues inputs_of(const Sample& sample, const ir::Program& program, uint64_t seed);

// Errors: those of ir::interpret; deadline after a minute.
Result<Expected> expected_of(const Sample& sample, const ir::Program& program, uint64_t seed);

}  // namespace solstice::random_kernels
