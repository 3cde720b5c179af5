#include "numerics/error_model.h"

#include <algorithm>
#include <cmath>

namespace solstice::numerics {
namespace {

// Root mean square of the relative error of one rounding to nearest, in units of the unit roundoff 2^-p, for a
// significand spread as reals spread over magnitudes (log-uniform): 2/sqrt(12) * sqrt(3/(8 ln 2)).
constexpr double kRound = 0.4247;

// Loss of the running sum in units of 2^-24 for each MMA step of the leading planes (with the steps of the smaller
// products that go with it), fitted to measurements on an H200: terms of one sign, random signs, one dominating term.
// Products of bf16 have 16 bits, so less of them is cut off.
constexpr double kTruncatePositive = 1.2;
constexpr double kTruncateRandom = 0.32;
constexpr double kTruncateOutlier = 0.56;
constexpr double kTruncateBF16 = 0.5;
// Truncation with operands of a byte: products and sums keep 13 bits behind the leading one of the largest of an
// instruction, not 23, so that the cut of each of its 32 products counts too. Fitted to e4m3; products of e5m2 have
// fewer bits and lose less.
constexpr double kTruncateFP8 = 1650;

double roundoff(DType dtype) { return unit_roundoff(dtype == DType::kF64 ? DType::kF64 : DType::kF32); }

// A chain of n roundings, each relative to the running sum, against the final sum. With terms of one sign the running
// sum grows as j/n, with random signs as sqrt(j/n), with an outlier it is the final sum from where the outlier came.
double chain_error(double n, const Sum& sum) {
  const double growth = sum.data == Data::kPositive ? 3 : sum.data == Data::kRandomSign ? 2 : 1;
  return kRound * roundoff(sum.dtype) * std::sqrt(std::max(n, 1.0) / growth);
}

double representation_error(const MathInfo& math, const Sum& sum) {
  if (exact_operands(math.math, sum.dtype)) return 0;
  const double rho = kRound * std::ldexp(1.0, -math.significand);
  // One plane: two operands. More planes: two residues and the dropped products of the same order.
  const double parts = math.planes == 1 ? std::sqrt(2.0) : math.planes == 2 ? std::sqrt(3.0) : 2.0;
  const double each = parts * std::pow(rho, math.planes);
  // Terms of one sign average their errors away; 4/3 is E[x^2]/E[x]^2 of uniform data.
  return sum.data == Data::kPositive ? each * 4 / 3 / std::sqrt(static_cast<double>(sum.k)) : each;
}

double truncation_error(const MathInfo& math, const Sum& sum) {
  if (!math.tensor || math.math == Math::kF64) return 0;
  const double k = static_cast<double>(math.promoted ? std::min(sum.k, sum.promote_every) : sum.k);
  const double steps = std::ceil(k / math.k_step);
  const double share = sum.data == Data::kPositive     ? kTruncatePositive
                       : sum.data == Data::kRandomSign ? kTruncateRandom
                                                       : kTruncateOutlier;
  const double bits = math.format == "bf16" ? kTruncateBF16 : math.format == "f8" ? kTruncateFP8 : 1;
  return share * bits * std::ldexp(1.0, -24) * steps;
}

double additions(const MathInfo& math, const Sum& sum) {
  const double k = static_cast<double>(sum.k);
  if (!math.tensor) return k;
  if (math.math == Math::kF64) return k / math.k_step;
  return math.promoted ? k / static_cast<double>(sum.promote_every) : 0;
}

}  // namespace

double ErrorParts::total() const {
  return std::sqrt(representation * representation + truncation * truncation + chain * chain + storage * storage);
}

ErrorParts modelled_error(Math math, const Sum& sum) {
  const MathInfo& how = info(math);
  ErrorParts parts;
  parts.representation = representation_error(how, sum);
  parts.truncation = truncation_error(how, sum);
  parts.chain = additions(how, sum) > 0 ? chain_error(additions(how, sum), sum) : 0;
  parts.storage = kRound * unit_roundoff(sum.result);
  return parts;
}

}  // namespace solstice::numerics
