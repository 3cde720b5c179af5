// What rewrites make of small programs, and where they keep away.
#include <gtest/gtest.h>

#include "ir/equivalence.h"
#include "ir/rewrite/driver.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

BoundText bound(const std::string& text) {
  auto out = bound_text(text, "test.ucut");
  EXPECT_TRUE(out.ok()) << out.error().text();
  return std::move(out).value();
}

// The equations after everything that saves was applied.
std::string rewritten(const std::string& text, const char* only = "") {
  RewriteOptions options;
  options.only = find_rewrite(only);
  const BoundText before = rewritable(bound(text)).value();
  const auto out = rewrite_all(before, options);
  EXPECT_TRUE(out.ok() && out->finished);
  EXPECT_NE(same_meaning(before.tree, out->result.tree).verdict, Verdict::kRefuted);
  std::string equations;
  for (const lang::Item& item : out->result.tree.items) {
    if (std::holds_alternative<lang::Equation>(item.node)) equations += lang::print(item);
  }
  return equations;
}

const std::string kGemm =
    "program p\ndim M = 64, N = 128, K = 256\nparam w : f32[N, K] \"w\"\nparam b : f32[N] \"b\"\ninput x : f32[M, K]\n";

TEST(Rewrites, RowSumOfAProductIsAMatrixVectorProduct) {
  EXPECT_EQ(rewritten(kGemm + "output y : f32[M]\nz[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]\ny[m] = sum[n](z[m,n])  # model.py:3\n"),
            "part[k] = sum[n](w[n,k])  # model.py:3\ny[m] = sum[k](x[m,k] * part[k]) + sum[n](b[n])  # model.py:3\n");
}

TEST(Rewrites, ATensorThatIsAnOutputTooIsKept) {
  const std::string text = kGemm + "output y : f32[M]\noutput z : f32[M, N]\nz[m,n] = sum[k](x[m,k] * w[n,k])\ny[m] = sum[n](z[m,n])\n";
  EXPECT_NE(rewritten(text).find("z[m,n] = sum[k](x[m,k] * w[n,k])\n"), std::string::npos);
}

TEST(Rewrites, NothingCrossesACast) {
  EXPECT_EQ(rewritten(kGemm + "output y : f32[M]\nz[m,n] = bf16(sum[k](x[m,k] * w[n,k]))\ny[m] = sum[n](z[m,n])\n"),
            "z[m,n] = bf16(sum[k](x[m,k] * w[n,k]))\ny[m] = sum[n](z[m,n])\n");
}

TEST(Rewrites, NothingCrossesANarrowingStore) {
  const std::string equations = "z[m,n] = sum[k](x[m,k] * w[n,k])\ny[m] = sum[n](z[m,n])\n";
  EXPECT_EQ(rewritten(kGemm + "output y : f32[M]\ntensor z : f16[M, N]\n" + equations), equations);
}

TEST(Rewrites, PoolingOfAConvolutionIsAConvolutionOfPooledInput) {
  EXPECT_EQ(rewritten("program p\ndim B = 8, C = 16, K = 32, H = 33, P = H-2, Q = (P-2)//2+1\nparam w : f32[K, C, 3] \"w\"\n"
                      "input x : f32[B, C, H]\noutput y : f32[B, K, Q]\n"
                      "t[n,k,p] = sum[c,r](x[n,c,p+r] * w[k,c,r]) for p<P\ny[n,k,q] = mean[i<2](t[n,k,2*q+i])\n"),
            "part[n,c,q] = mean[i<2](x[n,c,i+q]) for q < 31\n"
            "y[n,k,q] = sum[c,r](w[k,c,r] * part[n,c,2*q+r]) for q < Q\n");
}

TEST(Rewrites, ClippedWindowsAreNotComposed) {
  const std::string equations = "t[q] = mean[i<2 where 2*q+i-1 >= 0](x[2*q+i-1 else 0]) for q < 4\ny[p] = mean[j<2](t[2*p+j]) for p < 2\n";
  EXPECT_EQ(rewritten("program p\ninput x : f32[8]\noutput y : f32[2]\n" + equations, "compose_windows"), equations);
}

TEST(Rewrites, BiasAlongANormalisedIndexStays) {
  const std::string equations =
      "t[m,n] = x[m,n] + b[n]\nmu[m] = mean[n](t[m,n])\nvr[m] = var[n](t[m,n])\ny[m,n] = (t[m,n] - mu[m]) * rsqrt(vr[m] + 1e-5)\n";
  EXPECT_EQ(rewritten("program p\ndim M = 4, N = 8\nparam b : f32[N] \"b\"\ninput x : f32[M, N]\noutput y : f32[M, N]\n" + equations),
            equations);
}

TEST(Rewrites, BiasBeforeBatchNormalisationGoes) {
  EXPECT_EQ(rewritten("program p\ndim M = 512, N = 16\nparam b : f32[N] \"b\"\nbuffer rm : f32[N] \"rm\"\ninput x : f32[M, N]\n"
                      "tensor rn : f32[N] into rm\noutput y : f32[M, N]\nt[m,n] = exp(x[m,n]) + b[n]\nmu[n] = mean[m](t[m,n])\n"
                      "vr[n] = var[m](t[m,n])\nrn[n] = 0.9 * rm[n] + 0.1 * mu[n]\ny[m,n] = (t[m,n] - mu[n]) * rsqrt(vr[n] + 1e-5)\n"),
            "t_plain[m,n] = exp(x[m,n])\nmu_plain[n] = mean[m](t_plain[m,n])\nmu[n] = mu_plain[n] + b[n]\n"
            "vr[n] = var[m](t_plain[m,n])\nrn[n] = 0.9 * rm[n] + 0.1 * mu[n]\n"
            "y[m,n] = (t_plain[m,n] - mu_plain[n]) * rsqrt(vr[n] + 1e-5)\n");
}

TEST(Rewrites, SquareRootStaysInsideAMaximum) {  // NaN on half of the line
  const std::string equations = "y[m] = max[n](sqrt(x[m,n]))\n";
  EXPECT_EQ(rewritten("program p\ndim M = 4, N = 8\ninput x : f32[M, N]\noutput y : f32[M]\n" + equations), equations);
}

TEST(Rewrites, VarianceIsNotTakenApart) {
  const std::string equations = "mu[m] = mean[n](x[m,n])\ny[m] = mean[n]((x[m,n] - mu[m]) * (x[m,n] - mu[m]))\n";
  EXPECT_EQ(rewritten("program p\ndim M = 4, N = 8\ninput x : f32[M, N]\noutput y : f32[M]\n" + equations), equations);
}

TEST(Rewrites, ProgramsWithKernelsAreRefused) {
  const BoundText text = bound("program p\ndim M = 4\ninput x : f32[M]\noutput y : f32[M]\nkernel k by map() {\n  y[m] = x[m]\n}\n");
  EXPECT_EQ(find_sites(text).error().code, Code::not_yet);
  EXPECT_EQ(rewrite_all(text).error().code, Code::not_yet);
}

// A call's body is written out; rewrites go through what was its border.
TEST(Rewrites, CallsAreWrittenOut) {
  EXPECT_EQ(rewritten("program p\ndim M = 64, N = 128, K = 256\n"
                      "def linear[F](x : f32[M, C]) -> y : f32[M, F] {\n  param w : f32[F, C] \"weight\"\n"
                      "  t[m,f] = sum[c](x[m,c] * w[f,c])  # linear\n  y[m,f] = t[m,f] * 1\n}\n"
                      "input x : f32[M, K]\noutput y : f32[M]\nz = linear[F=N](x) at \"up\"\ny[m] = sum[n](z[m,n])  # model.py:3\n"),
            "part[c] = sum[n](up_w[n,c])  # model.py:3\ny[m] = sum[c](x[m,c] * part[c])  # model.py:3\n");
}

}  // namespace
}  // namespace solstice::ir
