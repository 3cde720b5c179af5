#include "ir/equivalence/compare.h"

#include <cmath>

namespace solstice::ir {
namespace {

constexpr double kLeast = 1e-300;  // what underflow leaves

}  // namespace

Compared compared(const std::vector<double>& problem, const std::vector<double>& candidate, bool exactly, const TermsOf& terms) {
  Compared out;
  std::vector<size_t> suspicious;
  for (size_t i = 0; i < problem.size(); ++i) {
    if (!std::isfinite(problem[i])) {
      const bool same = std::isnan(problem[i]) ? std::isnan(candidate[i]) : problem[i] == candidate[i];
      if (!same) out.infinite.push_back(i);
      continue;
    }
    ++out.finite;
    const double distance = std::abs(problem[i] - candidate[i]);
    const double allowed = exactly ? 0 : kTolerance * std::abs(problem[i]);
    if (!(distance <= allowed)) suspicious.push_back(i);
  }
  if (suspicious.empty()) return out;
  const std::vector<double> sums = exactly ? std::vector<double>() : terms(suspicious);
  for (size_t k = 0; k < suspicious.size(); ++k) {
    const size_t i = suspicious[k];
    const bool known = k < sums.size() && std::isfinite(sums[k]);
    if (known && std::abs(problem[i] - candidate[i]) <= kTolerance * sums[k] + kLeast) continue;
    out.different.push_back(i);
  }
  return out;
}

}  // namespace solstice::ir
