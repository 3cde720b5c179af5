// Products of operands that are split without scales, planes as the split pass makes them: infinities, NaN and the
// largest numbers come out where fp32 has them.
#include "mainloop/not_finite.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace solstice::mainloop {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

// An element type with fp32's exponents and `bits` fewer bits of significand, rounded as the conversions round.
struct Narrow {
  int bits;
  bool ties_to_even;

  float round(float v) const {
    if (!std::isfinite(v)) return v;
    const auto word = std::bit_cast<uint32_t>(v), half = 1U << (bits - 1);
    const uint32_t tie = ties_to_even ? half - 1 + ((word >> bits) & 1U) : half;
    return std::bit_cast<float>((word + tie) >> bits << bits);
  }
  float largest() const { return std::bit_cast<float>(std::bit_cast<uint32_t>(kLargestFloat) >> bits << bits); }
};
constexpr Narrow kBf16{16, true}, kTf32{13, false};

// As store_planes does.
std::vector<float> planes_of(float value, const Narrow& type, int count) {
  float rest = finite_part(value);
  std::vector<float> out;
  for (int p = 0; p < count; ++p) {
    if (p == count - 1) rest = last_part(rest, value);
    out.push_back(type.round(p == 0 ? limited(rest, type.largest()) : rest));
    rest -= out.back();
  }
  return out;
}

// As StageProduct adds: planes (i, j) with i + j below their number.
float product(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (size_t both = a.size(); both-- > 0;) {
    for (size_t i = 0; i <= both; ++i) sum += a[i] * b[both - i];
  }
  return sum;
}

struct Arithmetic {
  const char* name;
  Narrow type;
  int planes;
  double error;
};
constexpr Arithmetic kArithmetics[] = {
    {"bf16x6", kBf16, 3, 0x1p-22}, {"bf16x3", kBf16, 2, 0x1p-14}, {"tf32x3", kTf32, 2, 0x1p-20}};

constexpr float kLarge = 0x1.ffe4p127f;  // bf16 and TF32 round it to infinity, two planes of bf16 hold it
constexpr float kValues[] = {0.f,  -0.f,     1.f,    -1.0001f, 0.7f,      -7.7f,      1e-30f,
                             3.4f, -3.3e38f, kLarge, -kLarge,  kInfinite, -kInfinite, NAN};

bool overflows(float a, float b) { return std::isfinite(a) && std::isfinite(b) && std::isinf(a * b); }

TEST(NotFinite, ProductsAreThoseOfFp32) {
  for (const Arithmetic& math : kArithmetics) {
    for (const float a : kValues) {
      for (const float b : kValues) {
        SCOPED_TRACE(::testing::Message() << math.name << ": " << a << " * " << b);
        const float exact = a * b,
                    got = product(planes_of(a, math.type, math.planes), planes_of(b, math.type, math.planes));
        if (overflows(a, b))
          EXPECT_FALSE(std::isfinite(got)) << "its parts overflow, with signs of their own";
        else if (std::isfinite(exact))
          EXPECT_NEAR(got, exact, std::abs(exact) * math.error);
        else
          EXPECT_TRUE(std::isnan(exact) ? std::isnan(got) : got == exact) << got;
      }
    }
  }
}

TEST(NotFinite, PlanesHoldTheLargestNumbers) {
  for (const float v : {kLargestFloat, -kLargestFloat, 0x1.fep127f, 0x1.fffp127f}) {
    const std::vector<float> planes = planes_of(v, kBf16, 3);
    EXPECT_EQ(static_cast<double>(planes[0]) + planes[1] + planes[2], v);
  }
}

}  // namespace
}  // namespace solstice::mainloop
