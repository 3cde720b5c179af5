// Quotients and remainders of kernels/math/division.h at the ends of their types, as compiled for the host.
#include "math/division.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace solstice {
namespace {

__extension__ typedef __int128 Wide;

Wide floor_of(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
Wide ceiling_of(Wide a, Wide b) { return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0); }

template <typename T>
std::vector<T> ends() {
  std::vector<T> out = {0};
  for (const T near : {T(0), T(7), T(1000), T(16777216), std::numeric_limits<T>::max()}) {
    for (const T v : {T(near - 2), T(near - 1), near}) out.insert(out.end(), {v, T(-v)});
  }
  out.push_back(std::numeric_limits<T>::min());
  out.push_back(std::numeric_limits<T>::min() + 1);
  if constexpr (sizeof(T) == 8) {
    for (const T v : {T(1) << 31, T(1) << 32, T(1) << 53}) out.insert(out.end(), {v - 1, v, v + 1, -v - 1});
  }
  return out;
}

template <typename T>
void expect_exact() {
  for (const T a : ends<T>()) {
    for (const T b : ends<T>()) {
      if (b == 0) {
        EXPECT_EQ(math::floor_div(a, b), 0);
        EXPECT_EQ(math::floor_mod(a, b), 0);
        continue;
      }
      SCOPED_TRACE(testing::Message() << a << " by " << b);
      // A quotient that does not fit wraps.
      EXPECT_EQ(math::floor_div(a, b), static_cast<T>(floor_of(a, b)));
      EXPECT_EQ(math::ceiling_div(a, b), static_cast<T>(ceiling_of(a, b)));
      EXPECT_EQ(math::trunc_div(a, b), static_cast<T>(Wide(a) / b));
      EXPECT_EQ(math::floor_mod(a, b), static_cast<T>(a - floor_of(a, b) * b));
    }
  }
}

TEST(Division, OfIntegersIsExactAtTheEndsOfTheirTypes) {
  expect_exact<int>();
  expect_exact<i64>();
}

TEST(Division, WideQuotientsHoldWhatTheirOperandsTypeDoesNot) {
  constexpr int kLeast = std::numeric_limits<int>::min();
  EXPECT_EQ(math::floor_div_wide(kLeast, -1), 2147483648LL);
  EXPECT_EQ(math::trunc_div_wide(kLeast, -1), 2147483648LL);
  EXPECT_EQ(math::ceiling_div_wide(kLeast, -1), 2147483648LL);
  EXPECT_EQ(math::floor_div_wide(7, -2), -4);
}

TEST(Division, ArithmeticWraps) {
  constexpr i64 kMost = std::numeric_limits<i64>::max();
  EXPECT_EQ(math::wrapped_sum(kMost, 1), std::numeric_limits<i64>::min());
  EXPECT_EQ(math::wrapped_difference(std::numeric_limits<i64>::min(), 1LL), kMost);
  EXPECT_EQ(math::wrapped_product(kMost, 2), -2);
}

// Values of PyTorch 2.13 on the CPU.
TEST(Division, OfRealsIsPyTorchs) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(math::floor_divide(1.f, 0.1f), 9.f);
  EXPECT_EQ(math::floor_divide(6.f, 0.2f), 29.f);
  EXPECT_EQ(math::floor_divide(-1.f, 0.1f), -10.f);
  EXPECT_EQ(math::floor_divide(1.0, 0.1), 9.0);
  EXPECT_EQ(math::floor_divide(-1.f, kInf), -1.f);
  EXPECT_EQ(math::floor_divide(1.f, kInf), 0.f);
  EXPECT_EQ(math::floor_divide(1.f, 0.f), kInf);
  EXPECT_TRUE(std::isnan(math::floor_divide(kInf, 2.f)));
  EXPECT_EQ(math::remainder(1.f, 0.1f), 0x1.999996p-4f);
  EXPECT_EQ(math::remainder(-1.f, 3.f), 2.f);
  EXPECT_EQ(math::remainder(1.f, -kInf), -kInf);
  EXPECT_EQ(math::remainder(1.f, kInf), 1.f);
  EXPECT_TRUE(std::isnan(math::remainder(1.f, 0.f)));
  EXPECT_EQ(math::fmod(-7.5f, 2.f), -1.5f);
}

}  // namespace
}  // namespace solstice
