// Magnitudes of an equation's terms, which the tolerance of a comparison is relative to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/equivalence/compare.h"
#include "ir/program.h"

namespace solstice::ir {

// The name of the tensor that holds the magnitude of this one.
std::string magnitude_name(const std::string& tensor);

// The program with a second output for every real output and new buffer value: by element, the sum of the absolute
// terms it is computed from, carried through functions by their derivatives. A result of float64 arithmetic is off by
// about 1e-16 of it, however much of the terms cancels. Loose equations without kernels; the program has no opaque
// operations. Not `carried`: of the terms of its own equations alone, as if what they read were exact. `tolerance`:
// what share of their terms results may be off by; of a maximum it says, where it is more than 1e-5, which other
// elements may turn out to be the result.
Program with_magnitudes(const Program& program, bool carried = true, double tolerance = kTolerance);

// The program with an error of kTolerance of its own terms at every element of every real tensor that is read, of a
// sign that depends on the element and the seed: what rounding does to the results, where a bound of it adds up layer
// by layer.
Program with_errors(const Program& program, int seed);

// Terms of one tensor of the problem; `values` gives elements of a program's tensor at the problem's inputs. `problem`
// must outlive them.
using ValuesOf =
    std::function<std::vector<double>(const Program&, const std::string& tensor, const std::vector<size_t>& places)>;
Terms terms_of(const Program& problem, const std::string& tensor, ValuesOf values);

}  // namespace solstice::ir
