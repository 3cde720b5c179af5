// The model against measurements on one H200 (docs/measured/numerics.md): it must be within a factor of two, both ways.
#include "numerics/error_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace solstice::numerics {
namespace {

struct Measured {
  Math math;
  int64_t k;
  int64_t promote_every;
  Data data;
  double error;
};

constexpr int64_t kNever = 1 << 30;

const std::vector<Measured>& measurements() {
  using enum Math;
  using enum Data;
  static const std::vector<Measured> table = {
      // 2048 x 2048, K = 4096: uniform [0,1), normal, one column x 1e6
      {kSimt, 4096, 0, kPositive, 8.4e-7},
      {kSimt, 4096, 0, kRandomSign, 1.15e-6},
      {kSimt, 4096, 0, kOutlier, 1.6e-6},
      {kFP16x3, 4096, 128, kPositive, 4.7e-7},
      {kFP16x3, 4096, 128, kRandomSign, 2.3e-7},
      {kFP16x3, 4096, 128, kOutlier, 3.5e-7},
      {kFP16x3, 4096, 64, kPositive, 2.1e-7},
      {kFP16x3, 4096, 64, kRandomSign, 2.0e-7},
      {kFP16x3, 4096, 64, kOutlier, 2.8e-7},
      {kFP16x3, 4096, 512, kPositive, 2.5e-6},
      {kFP16x3, 4096, 512, kRandomSign, 6.5e-7},
      {kFP16x3, 4096, 512, kOutlier, 1.1e-6},
      {kFP16x3, 4096, kNever, kPositive, 2.4e-5},
      {kFP16x3, 4096, kNever, kRandomSign, 4.9e-6},
      {kFP16x3, 4096, kNever, kOutlier, 8.5e-6},
      {kTF32x3, 4096, 128, kPositive, 6.2e-7},
      {kTF32x3, 4096, 128, kRandomSign, 3.6e-7},
      {kTF32x3, 4096, 128, kOutlier, 5.8e-7},
      {kBF16x3, 4096, 128, kPositive, 1.8e-7},
      {kBF16x3, 4096, 128, kRandomSign, 4.4e-6},
      {kBF16x3, 4096, 128, kOutlier, 4.4e-6},
      {kBF16x6, 4096, 128, kPositive, 1.6e-7},
      {kBF16x6, 4096, 128, kRandomSign, 1.6e-7},
      {kBF16x6, 4096, 128, kOutlier, 3.4e-7},
      // 1024 x 1024, K = 2048, normal
      {kSimt, 2048, 0, kRandomSign, 4.1e-7},
      {kFP16x3, 2048, 128, kRandomSign, 2.2e-7},
      {kTF32x3, 2048, 128, kRandomSign, 3.5e-7},
      {kBF16x6, 2048, 128, kRandomSign, 1.4e-7},
      // K = 8192 and 32768, normal
      {kSimt, 8192, 0, kRandomSign, 1.6e-6},
      {kSimt, 32768, 0, kRandomSign, 1.6e-6},
      {kFP16x3, 8192, 64, kRandomSign, 2.5e-7},
      {kFP16x3, 32768, 128, kRandomSign, 3.5e-7},
      // 1024 x 1024, e4m3, results in f32
      {kFP8, 64, 128, kRandomSign, 7.4e-5},
      {kFP8, 64, 128, kPositive, 1.57e-4},
      {kFP8, 128, 128, kRandomSign, 1.26e-4},
      {kFP8, 128, 128, kPositive, 5.2e-4},
      {kFP8, 16384, 128, kRandomSign, 1.26e-4},
      {kFP8, 16384, 128, kPositive, 4.96e-4},
  };
  return table;
}

TEST(ErrorModel, IsWithinTwiceOfEveryMeasurement) {
  for (const Measured& row : measurements()) {
    Sum sum;
    sum.k = row.k;
    sum.data = row.data;
    if (row.math == Math::kFP8) sum.dtype = DType::kE4M3;
    if (row.promote_every) sum.promote_every = row.promote_every;
    const double ratio = modelled_error(row.math, sum).total() / row.error;
    EXPECT_GT(ratio, 0.5) << info(row.math).name << " K " << row.k << " every " << row.promote_every;
    EXPECT_LT(ratio, 2.05) << info(row.math).name << " K " << row.k << " every " << row.promote_every;
  }
}

TEST(ErrorModel, IsWithinAThirdOnAverage) {
  double sum_of_squares = 0;
  for (const Measured& row : measurements()) {
    Sum sum;
    sum.k = row.k;
    sum.data = row.data;
    if (row.math == Math::kFP8) sum.dtype = DType::kE4M3;
    if (row.promote_every) sum.promote_every = row.promote_every;
    const double off = std::log(modelled_error(row.math, sum).total() / row.error);
    sum_of_squares += off * off;
  }
  EXPECT_LT(std::sqrt(sum_of_squares / static_cast<double>(measurements().size())), std::log(1.4));
}

TEST(ErrorModel, GrowsWithKAndWithPromotionDistance) {
  double last = 0;
  for (int64_t k = 64; k <= 1 << 20; k *= 4) {
    const double now = modelled_error(Math::kSimt, {.k = k}).total();
    EXPECT_GT(now, last);
    last = now;
  }
  EXPECT_GT(modelled_error(Math::kFP16x3, {.k = 4096, .promote_every = 512}).total(),
            modelled_error(Math::kFP16x3, {.k = 4096, .promote_every = 128}).total());
}

TEST(ErrorModel, NarrowOperandsAreExactAndTheirResultIsNot) {
  const Sum half{.k = 1024, .dtype = DType::kBF16, .result = DType::kBF16};
  const ErrorParts parts = modelled_error(Math::kBF16, half);
  EXPECT_EQ(parts.representation, 0);
  EXPECT_NEAR(parts.storage, 0.4247 * std::ldexp(1.0, -8), 1e-6);
}

}  // namespace
}  // namespace solstice::numerics
