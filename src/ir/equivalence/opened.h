// Cuts that hide why two definitions are equal.
#pragma once

#include <chrono>
#include <set>

#include "ir/equivalence/side.h"

namespace solstice::ir {

// Cuts of either side that are substituted after all.
struct Opened {
  std::set<int> a, b;
};

// So many, and in the order, that the definitions of a tensor on side `a` and of the other's on side `b` read the same
// interface and cuts, as far as there are such: m = mean(t) tells t - m from u - mean(u) with t = u + c, and 2 * t,
// where one side reads t, does not show the x below that the other one reads. None after `end`.
Opened read_by_one(const Side& a, int target, const Side& b, int other, std::chrono::steady_clock::time_point end);

}  // namespace solstice::ir
