#include "ir/analysis/masks.h"

#include <gtest/gtest.h>

#include "ir/rewrite/driver.h"

namespace solstice::ir {
namespace {

Program masked_program(const std::string& equations) {
  auto out = bound_text(
      "program p\ndim M = 8, N = 8\nparam w : f32[M, N] \"w\"\nbuffer t : f32[M, N] \"t\"\ninput x : f32[M, N]\n"
      "input keep : bool[M, N]\noutput y : f32[M, N]\n" +
          equations,
      "test.ucut");
  EXPECT_TRUE(out.ok()) << out.error().text();
  return std::move(out->program);
}

TEST(Masks, ConditionsOfReductionsLeaveTermsOut) {
  for (const char* equations :
       {"y[m,n] = sum[k<8 where k <= m](w[m,k] * x[k,n])\n", "y[m,n] = max[k<8 where keep[m,k]](w[m,k] * x[k,n])\n"}) {
    EXPECT_TRUE(leaves_terms_out(masked_program(equations))) << equations;
    EXPECT_TRUE(has_masks(masked_program(equations))) << equations;
  }
}

TEST(Masks, SelectsOfZeroAndInfinityMask) {
  for (const char* equations :
       {"y[m,n] = select(n <= m, x[m,n], 0)\n", "y[m,n] = exp(select(keep[m,n], x[m,n], -inf))\n",
        "y[m,n] = select(m == n, 0.0, x[m,n])\n", "y[m,n] = x[m,n] * (m <= n)\n", "y[m,n] = keep[m,n] * x[m,n]\n",
        "y[m,n] = x[m,n] * select(m <= n, 1, 0)\n",
        "d[m,n] = select(m == n, 1, 0) for m<M, n<N\ny[m,n] = x[m,n] * d[m,n]\n",
        "assume t[i,j] = (j <= i)\ny[m,n] = x[m,n] * t[m,n]\n"}) {
    EXPECT_FALSE(leaves_terms_out(masked_program(equations))) << equations;
    EXPECT_TRUE(has_masks(masked_program(equations))) << equations;
  }
}

TEST(Masks, ValuesThatDecideOverThemselvesAreNone) {
  for (const char* equations :
       {"y[m,n] = select(x[m,n] > 0, x[m,n], 0)\n", "y[m,n] = relu(x[m,n])\n", "y[m,n] = select(n <= m, x[m,n], 1)\n",
        "y[m,n] = sum[k](w[m,k] * x[k,n])\n", "y[m,n] = sum[k where x[m,k] > 0](w[m,k] * x[k,n])\n",
        "y[m,n] = x[m,n] * (w[m,n] > 0)\n", "y[m,n] = x[select(m > 0, m - 1, 0),n]\n"}) {
    EXPECT_FALSE(leaves_terms_out(masked_program(equations))) << equations;
    EXPECT_FALSE(has_masks(masked_program(equations))) << equations;
  }
}

}  // namespace
}  // namespace solstice::ir
