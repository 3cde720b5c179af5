// Online reductions: the results that the parts of a row (a team's blocks, threads) accumulate before they exchange
// any. Reductions of the row's data alone are accumulated as they are. One that needs such a result (the sum of exp(x -
// max), the sum of (x - mean)^2) is accumulated around a center c of the part; when all results are known, each
// is corrected. So a row takes one exchange between its parts and a single pass over its data:
//   sum of exp(x - m)    times exp(c - m)                            (Milakov and Gimelshein, arXiv:1805.02867)
//   sum of (x - m)^2     plus n (m - c)^2 - 2 (m - c) sum of (x - c)   (Chan, Golub, LeVeque, 1979: parallel variance)
#pragma once

#include <vector>

#include "base/result.h"
#include "families/reduction/phases.h"
#include "families/reduction/shape.h"

namespace solstice::families::reduction {

enum class Correction { kExponential, kSquares };

struct Corrected {
  ir::ExprRef reduction;
  Correction correction = Correction::kExponential;
  ir::ExprRef center;  // m: a row's value, made of results of `OnlineReductions::first`
  ir::ExprRef sum;     // of x, where m is their mean
};

struct OnlineReductions {
  std::vector<ir::ExprRef> first;
  std::vector<Corrected> second;
};

// Error: illegal_knobs, naming what would need a second exchange.
Result<OnlineReductions> online_reductions_of(const Shape& shape, const Phases& phases);

}  // namespace solstice::families::reduction
