// Explicit casts: rounding of a real to a storage format, to nearest even, with PyTorch's overflow.
#pragma once

#include "base/dtype.h"

namespace solstice::ir {

double rounded(DType dtype, double value);
// A finite value of a float format next to this one: what an input may hold.
double stored_near(DType dtype, double value);

// Smallest and largest integer that the format stores, of i64 those that a double counts exactly; everything for f64.
struct IntegerRange {
  double low;
  double high;
};
IntegerRange integer_range(DType dtype);

}  // namespace solstice::ir
