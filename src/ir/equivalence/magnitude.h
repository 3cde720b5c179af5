// How large an equation's terms are: what the tolerance of a comparison is measured against.
#pragma once

#include <string>

#include "ir/program.h"

namespace solstice::ir {

// The name of the tensor that holds the magnitude of this one.
std::string magnitude_name(const std::string& tensor);

// The program with a second output for every real output and new buffer value: by element, the sum of the absolute terms it
// is computed from, carried through functions by their derivatives. A result of float64 arithmetic is off by about 1e-16 of
// it, however much of the terms cancels. Loose equations without kernels; the program has no opaque operations.
Program with_magnitudes(const Program& program);

}  // namespace solstice::ir
