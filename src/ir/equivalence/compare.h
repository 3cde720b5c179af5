// Results of two programs, element by element, within 1e-9 of the sum of the problem's absolute terms; integers
// exactly.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"

namespace solstice::ir {

inline constexpr double kTolerance = 1e-9;  // of the sum of absolute terms

// Sums of the absolute terms of the elements at these places of the list compared. Empty where they are not known.
using TermsOf = std::function<std::vector<double>(const std::vector<size_t>& places)>;

// Terms that a comparison is relative to.
struct Terms {
  TermsOf carried;                               // of all equations, carried through functions by their derivatives
  TermsOf own;                                   // of the tensor's own equations
  std::function<TermsOf(int seed)> with_errors;  // the values where every tensor has an error
};

struct Compared {
  std::vector<size_t> different;  // places in the list
  std::vector<size_t> infinite;   // the problem's value is an infinity or NaN, and the candidate's something else
  size_t finite = 0;              // elements with a finite value in the problem
  size_t unasked = 0;             // elements that differ where the problem asks for nothing
};

// `terms` are asked only where values differ by more than 1e-9 of themselves: what cancels is rare. What the terms of
// all equations excuse must be no more than a few times what errors of this size do.
Compared compared(const std::vector<double>& problem, const std::vector<double>& candidate, bool exactly,
                  const Terms& terms);

}  // namespace solstice::ir
