#include "ir/equivalence/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace solstice::ir {
namespace {

constexpr double kLeast = 1e-300;  // magnitude of what underflow leaves
constexpr double kUnknown = std::numeric_limits<double>::infinity();

constexpr int kSeeds = 3;
constexpr double kMargin = 8;  // of errors whose signs happen to cancel

// The places whose values differ by more than errors would make them.
std::vector<size_t> beyond_errors(const std::vector<double>& problem, const std::vector<double>& candidate,
                                  const std::vector<size_t>& places, const Terms& terms) {
  if (places.empty()) return {};
  std::vector<double> allowed = terms.own(places);
  if (allowed.size() != places.size()) return {};
  for (double& a : allowed) a *= kTolerance;
  std::vector<double> effect(places.size(), 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::vector<double> values = terms.with_errors(seed)(places);
    if (values.size() != places.size()) return {};
    for (size_t k = 0; k < places.size(); ++k) {
      const double moved = std::abs(values[k] - problem[places[k]]);
      effect[k] = std::isfinite(moved) ? std::max(effect[k], moved) : kUnknown;
    }
  }
  std::vector<size_t> out;
  for (size_t k = 0; k < places.size(); ++k) {
    const double limit = allowed[k] + kMargin * effect[k] + kLeast;
    if (std::abs(problem[places[k]] - candidate[places[k]]) > limit) out.push_back(places[k]);
  }
  return out;
}

}  // namespace

Compared compared(const std::vector<double>& problem, const std::vector<double>& candidate, bool exactly,
                  const Terms& terms) {
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
  const std::vector<double> sums = exactly ? std::vector<double>() : terms.carried(suspicious);
  std::vector<size_t> excused;
  for (size_t k = 0; k < suspicious.size(); ++k) {
    const size_t i = suspicious[k];
    const bool known = k < sums.size() && std::isfinite(sums[k]);
    if (known && std::abs(problem[i] - candidate[i]) <= kTolerance * sums[k] + kLeast) {
      excused.push_back(i);
      continue;
    }
    out.different.push_back(i);
  }
  if (out.different.empty()) out.different = beyond_errors(problem, candidate, excused, terms);
  return out;
}

}  // namespace solstice::ir
