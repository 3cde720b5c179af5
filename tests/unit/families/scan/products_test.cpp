// Products that leave the range of f32 on their way: whatever the order of their factors, they are not NaN.
#include <cmath>
#include <limits>

#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

// Factors whose parts overflow and underflow, while the product of all is near 1.
double factor(size_t i) { return i % 128 < 64 ? 1e-20 : 1e20; }

testing::Tensors factors(const ir::Program& program, size_t count, double (*of)(size_t)) {
  testing::Tensors out;
  for (size_t i = 0; i < count; ++i)
    out[program.find_tensor("x")].push_back(static_cast<double>(static_cast<float>(of(i))));
  return out;
}

float stored(double v) { return static_cast<float>(v); }

TEST(Products, RunningOnesDoNotOverflowOnTheirWay) {
  for (const int columns : {128, 2048}) {
    const ir::Program program =
        load_text("program running\ninput x : f32[4, " + std::to_string(columns) + "]\noutput y : f32[4, " +
                  std::to_string(columns) + "]\nkernel k by scan { y[m,n] = prod[j where j <= n](x[m,j]) }\n");
    const auto count = static_cast<size_t>(4 * columns);
    const testing::Tensors values = factors(program, count, factor);
    const auto got = run_kernel(program, values);
    ASSERT_TRUE(got.ok()) << got.error().text();
    const auto& x = values.at(program.find_tensor("x"));
    long double product = 1;
    for (size_t i = 0; i < count; ++i) {
      product = (i % static_cast<size_t>(columns) == 0 ? 1 : product) * x[i];
      const float want = stored(static_cast<double>(product)), is = stored(got->at(program.find_tensor("y"))[i]);
      ASSERT_TRUE(is == want || std::abs(is - want) <= 1e-4f * std::abs(want) + 1e-44f)
          << columns << ", " << i << ": " << is << " instead of " << want;
    }
  }
}

TEST(Products, OfRowsDoNotOverflowOnTheirWay) {
  for (const char* family : {"rows", "reduce"}) {
    const ir::Program program =
        load_text(std::string("program total\ninput x : f32[4, 512]\noutput y : f32[4]\nkernel k by ") + family +
                  " { y[m] = prod[j](x[m,j]) }\n");
    const auto got = run_kernel(program, factors(program, 4 * 512, factor));
    ASSERT_TRUE(got.ok()) << got.error().text();
    for (const double y : got->at(program.find_tensor("y"))) EXPECT_NEAR(y, 1, 1e-4) << family;
  }
}

// Zero times infinity is NaN where both are elements; a product that underflows is not, nor one that overflows.
TEST(Products, OfInfinitiesAndZeros) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const ir::Program program =
      load_text("program ends\ninput x : f32[4, 64]\noutput y : f32[4]\nkernel k by rows { y[m] = prod[j](x[m,j]) }\n");
  const auto got = run_kernel(program, factors(program, 4 * 64, [](size_t i) {
                                if (i == 3 || i == 70) return 0.0;
                                if (i == 80 || i == 130) return -kInf;
                                return i < 128 ? 1e10 : 1e-10;
                              }));
  ASSERT_TRUE(got.ok()) << got.error().text();
  const auto& y = got->at(program.find_tensor("y"));
  EXPECT_EQ(y[0], 0);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], -kInf);
  EXPECT_EQ(y[3], 0);
}

}  // namespace
}  // namespace solstice::families
