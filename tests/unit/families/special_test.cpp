// Errors of kernels/math/special.h over its whole range, as compiled for the host (the device's ex2 and rcp are within
// 2^-22 of the host's, which adds less than 0.2 ulp: both enter where they are multiplied by less than 0.2).
#include "math/special.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "math/vector.h"
#include "reduction/reduce.h"

namespace solstice {
namespace {

template <typename F, typename G>
double worst_ulp(F ours, G reference, float from, float to) {
  double worst = 0;
  for (float x = from; x < to; x = std::nextafter(x, to) + (to - from) * 1e-6f) {
    const double want = reference(static_cast<double>(x));
    const float near = std::fabs(static_cast<float>(want));
    const double ulp = static_cast<double>(std::nextafter(near, std::numeric_limits<float>::infinity())) - near;
    worst = std::max(worst, std::fabs(ours(x) - want) / ulp);
  }
  return worst;
}

// By way of a float some of them would be rounded to a tie first.
TEST(Storage, DoublesAreRoundedOnce) {
  const double tie = 1 + 0x1p-11, more = tie + 0x1p-40, less = tie - 0x1p-40;
  EXPECT_EQ(math::rounded<Half>(tie), 1.f);
  for (const double sign : {1., -1.}) {
    EXPECT_EQ(math::rounded<Half>(sign * more), sign * (1 + 0x1p-10));
    EXPECT_EQ(math::rounded<Half>(sign * less), sign);
    EXPECT_EQ(math::rounded<BFloat>(sign * (1 + 0x1p-8 + 0x1p-45)), sign * (1 + 0x1p-7));
    EXPECT_EQ(math::rounded<math::E4M3>(sign * (1 + 0x1p-4 + 0x1p-45)), sign * (1 + 0x1p-3));
    EXPECT_EQ(math::rounded<Half>(sign * 1e-300), 0.f);
    EXPECT_EQ(math::rounded<Half>(sign * 1e300), sign * std::numeric_limits<float>::infinity());
  }
}

TEST(Special, Erf) {
  const auto ours = [](float x) { return math::erf(x); };
  const auto exact = [](double x) { return std::erf(x); };
  EXPECT_LT(worst_ulp(ours, exact, 1e-30f, 6.0f), 1.3);
  EXPECT_LT(worst_ulp(ours, exact, -6.0f, -1e-30f), 1.3);
}

TEST(Special, Tanh) {
  const auto ours = [](float x) { return math::tanh(x); };
  const auto exact = [](double x) { return std::tanh(x); };
  EXPECT_LT(worst_ulp(ours, exact, 1e-30f, 12.0f), 1.6);
  EXPECT_LT(worst_ulp(ours, exact, -12.0f, -1e-30f), 1.6);
}

double worst_relative(float (*ours)(float), double (*exact)(double), float from, float to) {
  double worst = 0;
  for (float x = from; x < to; x = std::nextafter(x, to) + (to - from) * 1e-6f) {
    const double want = exact(static_cast<double>(x));
    worst = std::max(worst, std::fabs(static_cast<double>(ours(x)) / want - 1));
  }
  return worst;
}

TEST(Special, ShortFunctions) {
  const auto one_plus_erf = [](double x) { return std::erfc(-x); };
  const auto one_plus_tanh = [](double x) { return 2 / (1 + std::exp(-2 * x)); };
  EXPECT_LT(worst_relative(math::short_one_plus_erf, one_plus_erf, -2.5f, 20.0f), 0x1p-15);
  EXPECT_LT(worst_relative(math::short_one_plus_tanh, one_plus_tanh, -20.0f, 20.0f), 0x1p-17);
  EXPECT_LT(worst_relative(
                math::short_tanh, [](double x) { return std::tanh(x); }, 1e-30f, 20.0f),
            0x1p-16);
  EXPECT_LT(worst_relative(
                math::short_tanh, [](double x) { return std::tanh(x); }, -20.0f, -1e-30f),
            0x1p-16);
  // Where 1 + erf cancels in float, it is no worse than that.
  for (float x = -100.0f; x < -2.5f; x += 1e-4f) {
    const double error =
        std::fabs(static_cast<double>(math::short_one_plus_erf(x)) - std::erfc(-static_cast<double>(x)));
    ASSERT_LT(error, 0x1p-23) << x;
  }
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto function : {math::short_one_plus_erf, math::short_one_plus_tanh}) {
    EXPECT_EQ(function(inf), 2.0f);
    EXPECT_EQ(function(-inf), 0.0f);
    EXPECT_EQ(function(1e30f), 2.0f);
    EXPECT_EQ(function(-1e30f), 0.0f);
    EXPECT_TRUE(std::isnan(function(std::nanf(""))));
  }
  EXPECT_EQ(math::short_tanh(-inf), -1.0f);
  EXPECT_EQ(math::short_tanh(0.0f), 0.0f);
  EXPECT_EQ(math::short_tanh(1e-42f), 1e-42f);
  EXPECT_TRUE(std::isnan(math::short_tanh(std::nanf(""))));
}

TEST(Special, KeysOrderFloatsAsArgReductionsDo) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> ascending = {-inf, -3e38f, -1.0f, -1e-42f, 0.0f, 1e-42f, 1.0f, 3e38f, inf};
  for (size_t i = 0; i + 1 < ascending.size(); ++i) {
    EXPECT_LT(reduction::ArgMax::key(ascending[i]), reduction::ArgMax::key(ascending[i + 1])) << ascending[i];
    EXPECT_GT(reduction::ArgMin::key(ascending[i]), reduction::ArgMin::key(ascending[i + 1])) << ascending[i];
  }
  for (const float value : ascending) {
    EXPECT_EQ(reduction::ArgMax::value_of(reduction::ArgMax::key(value)), value);
    EXPECT_EQ(reduction::ArgMin::value_of(reduction::ArgMin::key(value)), value);
  }
  EXPECT_EQ(reduction::ArgMax::key(-0.0f), reduction::ArgMax::key(0.0f));
  EXPECT_EQ(reduction::ArgMin::key(-0.0f), reduction::ArgMin::key(0.0f));
  for (const float nan : {std::nanf(""), -std::nanf("")}) {
    EXPECT_EQ(reduction::ArgMax::key(nan), 0xffffffffu);
    EXPECT_EQ(reduction::ArgMin::key(nan), 0xffffffffu);
    EXPECT_TRUE(std::isnan(reduction::ArgMax::value_of(reduction::ArgMax::key(nan))));
    EXPECT_TRUE(std::isnan(reduction::ArgMin::value_of(reduction::ArgMin::key(nan))));
  }
}

TEST(Special, LimitsAndNan) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(math::erf(inf), 1.0f);
  EXPECT_EQ(math::erf(-inf), -1.0f);
  EXPECT_EQ(math::tanh(inf), 1.0f);
  EXPECT_EQ(math::tanh(-inf), -1.0f);
  EXPECT_EQ(math::erf(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(math::erf(std::nanf(""))));
  EXPECT_TRUE(std::isnan(math::tanh(std::nanf(""))));
  EXPECT_TRUE(std::isnan(math::maximum(1.0f, std::nanf(""))));
  EXPECT_TRUE(std::isnan(math::minimum(std::nanf(""), 1.0f)));
}

TEST(Special, SharedDivisorsDivideLikePlainOnes) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const float b : {3.0f, -0.7f, 1e-30f, 1e30f, 1e-45f, 3e38f, 0.0f, inf, std::nanf("")}) {
    for (const float a : {1.0f, -7.0f, 0.0f, 1e-40f, 3e38f, inf, -inf, std::nanf("")}) {
      const float got = math::divide(a, math::divisor(b)), want = a / b;
      const bool close = got == want || std::fabs(got - want) <= 1.2e-7f * std::fabs(want) + 1e-45f;
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : close) << a << "/" << b << " " << got;
    }
  }
}

// By way of a float, ties that are none would be rounded to even.
TEST(Storage, DoublesAndIntegersAreRoundedOnce) {
  const double tie = 1.0 + 0x1p-11, tail = 0x1p-40;
  EXPECT_EQ(math::rounded<Half>(tie), 1.0f);
  EXPECT_EQ(math::rounded<Half>(tie + tail), 1.0f + 0x1p-10f);
  EXPECT_EQ(math::rounded<Half>(-tie - tail), -1.0f - 0x1p-10f);
  EXPECT_EQ(math::rounded<Half>(1.0 + 3 * 0x1p-11 - tail), 1.0f + 0x1p-10f);
  EXPECT_EQ(math::rounded<BFloat>(1.0 + 0x1p-8 + tail), 1.0f + 0x1p-7f);
  EXPECT_EQ(math::rounded<BFloat>((1LL << 32) + (1LL << 24) + 1), 0x1p32f + 0x1p25f);
  EXPECT_EQ(math::rounded<Half>(1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(math::rounded<Half>(1e-300), 0.0f);
  EXPECT_TRUE(std::isnan(math::rounded<math::E4M3>(-1e300)));
}

TEST(Storage, SmallFormatsRoundTripAndOverflowLikePyTorch) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    const float e4 = math::FloatE4M3::decode(bits), e5 = math::FloatE5M2::decode(bits);
    if (!std::isnan(e4)) {
      EXPECT_EQ(math::FloatE4M3::encode(e4), bits);
    }
    if (!std::isnan(e5)) {
      EXPECT_EQ(math::FloatE5M2::encode(e5), bits);
    }
  }
  EXPECT_EQ(math::rounded<math::E4M3>(448.0f), 448.0f);
  EXPECT_EQ(math::rounded<math::E4M3>(464.0f), 448.0f);
  EXPECT_TRUE(std::isnan(math::rounded<math::E4M3>(465.0f)));
  EXPECT_TRUE(std::isinf(math::rounded<math::E5M2>(61440.0f)));
  EXPECT_EQ(math::rounded<Half>(65504.0f), 65504.0f);
  EXPECT_TRUE(std::isinf(math::rounded<Half>(65520.0f)));
  EXPECT_EQ(math::rounded<Half>(0x1p-24f), 0x1p-24f);
  EXPECT_EQ(math::rounded<BFloat>(1.00390625f), 1.0f);
  EXPECT_TRUE(std::isnan(math::rounded<BFloat>(std::nanf(""))));
}

}  // namespace
}  // namespace solstice
