// Positions of extrema that one thread finds by itself: pooling with indices, running extrema.
#include <cmath>
#include <limits>

#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

constexpr const char* kPool =
    "program pool\ninput x : f32[2, 8, 6]\noutput y : i64[2, 4, 3]\noutput z : i64[2, 4, 3]\n"
    "kernel k by map {\n"
    "  y[c,p,q] = argmax[k<4](x[c, 2*p + k//2, 2*q + k%2])\n"
    "  z[c,p,q] = argmin[k<4](x[c, 2*p + k//2, 2*q + k%2])\n"
    "}\n";

TEST(Positions, OfAWindow) { expect_text(kPool); }

// The first of equal ones, the first NaN before any, and infinities like any value.
TEST(Positions, OfTiesAndNan) {
  const ir::Program program = load_text(kPool);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double choice[] = {1, 1, -kInf, kInf, std::nan(""), 0, -1};
  testing::Tensors values;
  for (size_t i = 0; i < 96; ++i) {
    const bool nothing = i / 16 == 2;  // windows of -inf alone
    values[program.find_tensor("x")].push_back(nothing ? -kInf : choice[(i * i + i / 5) % 7]);
  }
  expect_same(program, 0, 4, std::move(values));
}

TEST(Positions, OfIntegersAndLongAxes) {
  expect_text(
      "program long\ninput x : i32[5, 100]\noutput y : i64[5]\n"
      "kernel k by map { y[m] = argmax[j](x[m,j]) + argmin[j where j < 90](x[m,j]) }\n",
      0, 1000000000);
}

// As `cummax` is imported.
TEST(Positions, OfRunningMaxima) {
  expect_text(
      "program running\ninput x : f32[4, 40]\noutput y : i64[4, 40]\n"
      "kernel k by map { y[m,n] = n - argmax[j<40 where j <= n](x[m,n-j]) }\n");
}

TEST(Positions, ScansKeepNone) {
  const ir::Program program = load_text(
      "program running\ninput x : f32[4, 40]\noutput y : i64[4, 40]\n"
      "kernel k by scan { y[m,n] = argmax[j where j <= n](x[m,j]) }\n");
  const Match match = find_family("scan")->match(program, program.kernels.front());
  EXPECT_FALSE(match.built);
  EXPECT_NE(match.reason.find("positions"), std::string::npos) << match.reason;
}

}  // namespace
}  // namespace solstice::families
