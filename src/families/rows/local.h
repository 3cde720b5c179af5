// What the blocks of a team can find of a row before they have heard of each other. Reductions of the row's data alone
// they find for their parts. One that needs such a result (the sum of exp(x - max), the sum of (x - mean)^2) they find
// with their own part's result in its place; when all results are known, each part is corrected. So a row takes one
// exchange between blocks:
//   sum of exp(x - m)    times exp(m_b - m)                  (Milakov and Gimelshein, arXiv:1805.02867)
//   sum of (x - m)^2     plus n_b (m_b - m)^2                (Chan, Golub, LeVeque, 1979: parallel variance)
#pragma once

#include <vector>

#include "base/result.h"
#include "families/rows/phases.h"
#include "families/rows/shape.h"

namespace solstice::families::rows {

enum class Correction { kExponential, kSquares };

struct Corrected {
  ir::ExprRef reduction;
  Correction correction = Correction::kExponential;
  ir::ExprRef center;       // m: a row's value, made of results of `Findings::first`
  ir::ExprRef exponential;  // exp(x - m), where that is what is corrected
};

struct Findings {
  std::vector<ir::ExprRef> first;
  std::vector<Corrected> second;
};

// Error: illegal_knobs, naming what would need a second exchange.
Result<Findings> findings_of(const Shape& shape, const Phases& phases);

}  // namespace solstice::families::rows
