// What the parts of a row (a team's blocks, threads that look at it once) can find before they have heard of each
// other. Reductions of the row's data alone they find for their parts. One that needs such a result (the sum of exp(x -
// max), the sum of (x - mean)^2) they find with a center c of their own in its place; when all results are known, each
// is corrected. So a row takes one exchange between them, and each thread one look at what it finds:
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
