// What rewrites make of small programs, and where they keep away.
#include <gtest/gtest.h>

#include "ir/equivalence.h"
#include "ir/rewrite/driver.h"
#include "lang/print.h"

namespace solstice::ir {
namespace {

BoundText bound_here(const std::string& text) {
  auto out = bound_text(text, "test.ucut");
  EXPECT_TRUE(out.ok()) << out.error().text();
  return std::move(out).value();
}

// The equations after everything that saves was applied.
std::string rewritten(const std::string& text, const char* only = "") {
  RewriteOptions options;
  options.only = find_rewrite(only);
  const BoundText before = rewritable(bound_here(text)).value();
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
  EXPECT_EQ(
      rewritten(kGemm +
                "output y : f32[M]\nz[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]\ny[m] = sum[n](z[m,n])  # model.py:3\n"),
      "part[k] = sum[n](w[n,k])  # model.py:3\npart2[] = sum[n](b[n])  # model.py:3\n"
      "y[m] = sum[k](x[m,k] * part[k]) + part2[]  # model.py:3\n");
}

TEST(Rewrites, ATensorThatIsAnOutputTooIsKept) {
  const std::string text =
      kGemm + "output y : f32[M]\noutput z : f32[M, N]\nz[m,n] = sum[k](x[m,k] * w[n,k])\ny[m] = sum[n](z[m,n])\n";
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
  EXPECT_EQ(
      rewritten("program p\ndim B = 8, C = 16, K = 32, H = 33, P = H-2, Q = (P-2)//2+1\nparam w : f32[K, C, 3] \"w\"\n"
                "input x : f32[B, C, H]\noutput y : f32[B, K, Q]\n"
                "t[n,k,p] = sum[c,r](x[n,c,p+r] * w[k,c,r]) for p<P\ny[n,k,q] = mean[i<2](t[n,k,2*q+i])\n"),
      "part[n,c,q] = mean[i<2](x[n,c,i+q]) for q < 31\n"
      "y[n,k,q] = sum[c,r](w[k,c,r] * part[n,c,2*q+r]) for q < Q\n");
}

TEST(Rewrites, ClippedWindowsAreNotComposed) {
  const std::string equations =
      "t[q] = mean[i<2 where 2*q+i-1 >= 0](x[2*q+i-1 else 0]) for q < 4\ny[p] = mean[j<2](t[2*p+j]) for p < 2\n";
  EXPECT_EQ(rewritten("program p\ninput x : f32[8]\noutput y : f32[2]\n" + equations, "compose_windows"), equations);
}

TEST(Rewrites, BiasAlongANormalisedIndexStays) {
  const std::string equations =
      "t[m,n] = x[m,n] + b[n]\nmu[m] = mean[n](t[m,n])\nvr[m] = var[n](t[m,n])\ny[m,n] = (t[m,n] - mu[m]) * "
      "rsqrt(vr[m] + 1e-5)\n";
  EXPECT_EQ(
      rewritten("program p\ndim M = 4, N = 8\nparam b : f32[N] \"b\"\ninput x : f32[M, N]\noutput y : f32[M, N]\n" +
                equations),
      equations);
}

TEST(Rewrites, BiasBeforeBatchNormalisationGoes) {
  EXPECT_EQ(
      rewritten(
          "program p\ndim M = 512, N = 16\nparam b : f32[N] \"b\"\nbuffer rm : f32[N] \"rm\"\ninput x : f32[M, N]\n"
          "tensor rn : f32[N] into rm\noutput y : f32[M, N]\nt[m,n] = exp(x[m,n]) + b[n]\nmu[n] = mean[m](t[m,n])\n"
          "vr[n] = var[m](t[m,n])\nrn[n] = 0.9 * rm[n] + 0.1 * mu[n]\ny[m,n] = (t[m,n] - mu[n]) * rsqrt(vr[n] + "
          "1e-5)\n"),
      "t_plain[m,n] = exp(x[m,n])\nmu_plain[n] = mean[m](t_plain[m,n])\nmu[n] = mu_plain[n] + b[n]\n"
      "vr[n] = var[m](t_plain[m,n])\nrn[n] = 0.9 * rm[n] + 0.1 * mu[n]\n"
      "y[m,n] = (t_plain[m,n] - mu_plain[n]) * rsqrt(vr[n] + 1e-5)\n");
}

// The limit is one of work, not of time: where it is reached is the same on every machine.
TEST(Rewrites, EndAtALimitAndSaySo) {
  const BoundText before =
      bound_here(kGemm + "output y : f32[M]\nz[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]\ny[m] = sum[n](z[m,n])\n");
  RewriteOptions options;
  options.most_equations = 0;
  const auto none = rewrite_all(before, options);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->finished);
  options = {};
  options.stop = [] { return true; };
  const auto stopped = rewrite_all(before, options);
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(!stopped->finished && stopped->steps.empty());
  const auto all = rewrite_all(before);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->finished);
  EXPECT_TRUE(none->steps.empty());
  EXPECT_FALSE(all->steps.empty());
}

TEST(Rewrites, SquareRootStaysInsideAMaximum) {  // NaN on half of the line
  const std::string equations = "y[m] = max[n](sqrt(x[m,n]))\n";
  EXPECT_EQ(rewritten("program p\ndim M = 4, N = 8\ninput x : f32[M, N]\noutput y : f32[M]\n" + equations), equations);
}

TEST(Rewrites, VarianceIsNotTakenApart) {
  const std::string equations = "mu[m] = mean[n](x[m,n])\ny[m] = mean[n]((x[m,n] - mu[m]) * (x[m,n] - mu[m]))\n";
  EXPECT_EQ(rewritten("program p\ndim M = 4, N = 8\ninput x : f32[M, N]\noutput y : f32[M]\n" + equations), equations);
}

// `text` under one rewrite, applied wherever it applies, whether that saves or not.
std::string forced(const std::string& text, const char* name) {
  RewriteOptions options;
  options.only = find_rewrite(name);
  options.whatever_it_costs = true;
  const BoundText before = bound_here(text);
  const auto out = rewrite_all(before, options);
  EXPECT_TRUE(out.ok()) << out.error().text();
  if (!out.ok()) return "";
  EXPECT_NE(same_meaning(before.tree, out->result.tree).verdict, Verdict::kRefuted);
  std::string equations;
  for (const lang::Item& item : out->result.tree.items) {
    if (std::holds_alternative<lang::Equation>(item.node)) equations += lang::print(item);
  }
  return equations;
}

void expect_untouched(const std::string& declarations, const std::string& equations, const char* name) {
  EXPECT_EQ(forced("program p\n" + declarations + equations, name), equations) << name;
}

const std::string kGathers =
    "dim M = 5, V = 4, D = 64\ninput e : f32[V, D]\ninput i : i64[M]\noutput a : f32[M]\noutput b : f32[M]\n";

TEST(Rewrites, AGatherStaysBelowItsSelect) {  // outside it may be out of range
  expect_untouched(kGathers,
                   "a[m] = select(0 <= i[m], sum[j](e[i[m],j] * e[i[m],j]), 0)\n"
                   "b[m] = select(0 <= i[m], sum[j](e[i[m],j] * e[i[m],j]) * 2, 1)\n",
                   "share_statistics");
  expect_untouched(kGathers,
                   "a[m] = select(0 <= i[m], max[j](select(e[i[m],j] > 0, e[i[m],j], 0.1 * e[i[m],j])), 0)\n"
                   "b[m] = sum[j where i[m] >= 0 and i[m] < j](max[k](select(e[i[m],k] > 0, e[i[m],k], 0.1 * "
                   "e[i[m],k])) * e[0,j])\n",
                   "commute_monotone");
}

TEST(Rewrites, LongStatisticsComeApart) {
  const std::string head = "program p\ndim M = 4, N = 512\ninput x : f32[M, N]\noutput y : f32[M, N]\n";
  EXPECT_EQ(forced(head + "y[m,n] = (x[m,n] - 1) * rsqrt(var[k](x[m,k]) + 1e-5)\n", "split_statistics"),
            "mean_of[m] = mean[k](x[m,k])\n"
            "var_of[m] = mean[k]((x[m,k] - mean_of[m]) * (x[m,k] - mean_of[m]))\n"
            "y[m,n] = (x[m,n] - 1) * rsqrt(var_of[m] + 1e-5)\n");
  expect_untouched("dim M = 4, N = 8\ninput x : f32[M, N]\noutput y : f32[M, N]\n",
                   "y[m,n] = x[m,n] - mean[k](x[m,k])\n", "split_statistics");
  expect_untouched("dim M = 4, N = 512\ninput x : f32[M, N]\noutput y : f32[M]\n", "y[m] = 1 + mean[k](x[m,k])\n",
                   "split_statistics");
}

TEST(Rewrites, AGatherThatIsReadEverywhereIsShared) {
  EXPECT_EQ(forced("program p\n" + kGathers +
                       "a[m] = sum[j](e[i[m],j]) + 1\nb[m] = select(0 <= i[m], sum[j](e[i[m],j]) * 2, 1)\n",
                   "share_statistics"),
            "sum_of[m] = sum[j](e[i[m],j])\na[m] = sum_of[m] + 1\nb[m] = select(0 <= i[m], sum_of[m] * 2, 1)\n");
}

const std::string kTriangle =
    "dim M = 4, N = 4, K = 3\ninput x : f32[N, K]\ninput w : f32[K]\ninput s : f32[M]\noutput y : f32[M]\n";

TEST(Rewrites, NothingThatMayBeInfiniteComesOutOfAnEmptySum) {  // y[0] is 0 whatever s[0] is
  expect_untouched(kTriangle, "y[m] = sum[n where n < m](x[n,0] / s[m])\n", "factor_sums");
  expect_untouched(kTriangle, "y[m] = sum[n where n < m](x[n,0] * rsqrt(s[m]))\n", "factor_sums");
  expect_untouched(kTriangle, "r[m] = rsqrt(s[m])\ny[m] = sum[n where n < m](x[n,0] * r[m])\n", "factor_sums");
  for (const char* z : {"sum[k where k < n](x[n,k] * w[k]) / s[m]", "sum[k where k < n](x[n,k] * w[k] / s[m])"}) {
    const std::string text =
        forced("program p\n" + kTriangle + "z[m,n] = " + z + "\ny[m] = sum[n where n < m](z[m,n])\n", "factor_sums");
    EXPECT_EQ(text.find(") / s[m]\n"), std::string::npos) << text;
  }
}

TEST(Rewrites, WhatIsFiniteComesOutOfAnEmptySum) {
  EXPECT_EQ(forced("program p\n" + kTriangle + "y[m] = sum[n where n < m](x[n,0] * s[m] / 3)\n", "factor_sums"),
            "y[m] = s[m] * sum[n where n < m](x[n,0]) / 3\n");
  EXPECT_EQ(forced("program p\n" + kTriangle + "r[m] = tanh(s[m])\ny[m] = sum[n where n < m](x[n,0] * r[m])\n",
                   "factor_sums"),
            "r[m] = tanh(s[m])\ny[m] = r[m] * sum[n where n < m](x[n,0])\n");
}

const std::string kTransposed = "dim I = 4, U = 8, R = 3\ninput x : f32[I]\ninput w : f32[R]\noutput y : f32[U]\n";

TEST(Rewrites, PaddingIsMultipliedOnlyByWhatIsFinite) {  // 0 * inf is NaN
  const auto split = [](const std::string& factor) {
    return forced("program p\n" + kTransposed + "y[u] = sum[i,r where u == 2*i+r-1](x[i] * " + factor + ") for u < U\n",
                  "split_parity");
  };
  for (const char* factor : {"rsqrt(w[r])", "exp(w[r])", "log(w[r])", "(1 / w[r])"}) {
    const std::string text = split(factor);
    EXPECT_EQ(text.find("else"), std::string::npos) << text;
    EXPECT_NE(text.find("where"), std::string::npos) << text;
  }
  for (const char* factor : {"w[r]", "tanh(w[r])"})
    EXPECT_NE(split(factor).find("else 0"), std::string::npos) << factor;
}

// A number that equals a dim is none, whether it was written or folded.
TEST(Rewrites, OnlyWhatWasWrittenWithADimIsNamedByIt) {
  const std::string chain = "program p\ndim N = 8\ninput x : f32[N]\noutput y : f32[N]\n";
  EXPECT_EQ(forced(chain + "y[n] = x[n] * 2 * 4 / N\n", "fold_scalars"), "y[n] = x[n] * 8 / N\n");
  EXPECT_EQ(forced(chain + "y[n] = x[n] * 2.0 * 3.5 + N\n", "fold_scalars"), "y[n] = x[n] * 7 + N\n");
  EXPECT_EQ(forced(chain + "y[n] = x[N-1-n] * 2 * -3 / (N-1)\n", "fold_scalars"),
            "y[n] = x[N-1-n] * -6 / (N - 1) for n < N\n");
  EXPECT_EQ(forced("program p\ndim M = 4, N = 8\ninput x : f32[M, N]\ninput s : f32[M]\noutput y : f32[M]\n"
                   "y[m] = sum[n](x[m,n] * s[m] * N * 2 * 8)\n",
                   "factor_sums"),
            "y[m] = s[m] * N * 2 * 8 * sum[n](x[m,n])\n");
}

// 64 and N are equal here and nowhere else.
TEST(Rewrites, NumbersAreSharedOnlyIfTheyAreWrittenAlike) {
  const std::string head = "dim M = 4, N = 64, K = 64\ninput x : f32[M, N]\noutput y : f32[M]\noutput z : f32[M]\n";
  const std::string first = "y[m] = sum[n where n < N-1](tanh(x[m,n]))\n";
  EXPECT_NE(forced("program p\n" + head + first + "z[m] = 2 * sum[n where n < N-1](tanh(x[m,n]))\n", "share_statistics")
                .find("z[m] = 2 * y[m]"),
            std::string::npos);
  expect_untouched(head, first + "z[m] = 2 * sum[n where n < 63](tanh(x[m,n]))\n", "share_statistics");
  expect_untouched(head, first + "z[m] = 2 * sum[n where n < K-1](tanh(x[m,n]))\n", "share_statistics");
}

// Over the reals 0.1 * 0.7 * 100 is 7; rounded, it decides the floor of -21 otherwise.
TEST(Rewrites, FoldedLiteralsAreExactInFrontOfWhatJumps) {
  const std::string head = "dim N = 8\ninput x : f32[N]\noutput y : f32[N]\n";
  EXPECT_EQ(
      forced("program p\n" + head + "a[n] = x[n] * 0.1 * 0.7\nb[n] = a[n] * 100\ny[n] = floor(b[n])\n", "fold_scalars"),
      "b[n] = x[n] * 7\ny[n] = floor(b[n])\n");
  expect_untouched(head, "a[n] = x[n] / 7 * 5\nb[n] = tanh(a[n])\ny[n] = floor(b[n])\n", "fold_scalars");
  expect_untouched(head, "a[n] = x[n] / 7 * 5\ny[n] = select(a[n] > 1, x[n], 0)\n", "fold_scalars");
  EXPECT_NE(forced("program p\n" + head + "a[n] = x[n] / 7 * 5\ny[n] = tanh(a[n])\n", "fold_scalars").find("0.714285"),
            std::string::npos);
}

TEST(Rewrites, AStoreInFewerBitsIsARoundingPoint) {
  const std::string half = "dim T = 5, J = 3\ninput x : f16[T, J]\ninput r : f32[T]\noutput y : f32[T]\n";
  expect_untouched(half + "tensor t : f16[T, J]\n", "t[a,j] = x[a,j] * 3.5\ny[a] = max[j](t[a,j] * 2)\n",
                   "fold_scalars");
  const std::string equations = "t[a,j] = x[a,j] * 3.5\ny[a] = max[j](t[a,j] * 2)\n";
  EXPECT_NE(forced("program p\n" + half + "tensor t : f16[T, J]\n" + equations, "commute_monotone").find("t[a,j] = "),
            std::string::npos);
  EXPECT_EQ(forced("program p\n" + half + "tensor t : f32[T, J]\n" + equations, "commute_monotone").find("t[a,j] = "),
            std::string::npos);
  expect_untouched("dim T = 5\ninput x : f32[T]\noutput h : bf16[T]\n", "h[t] = h[t-1 else 0] + x[t]\n", "prefix_sums");
}

TEST(Rewrites, ProgramsWithKernelsAreRefused) {
  const BoundText text =
      bound_here("program p\ndim M = 4\ninput x : f32[M]\noutput y : f32[M]\nkernel k by map() {\n  y[m] = x[m]\n}\n");
  EXPECT_EQ(find_sites(text).error().code, Code::not_yet);
  EXPECT_EQ(rewrite_all(text).error().code, Code::not_yet);
}

// A call's body is written out; rewrites go through what was its border.
TEST(Rewrites, CallsAreWrittenOut) {
  EXPECT_EQ(rewritten("program p\ndim M = 64, N = 128, K = 256\n"
                      "def linear[F](x : f32[M, C]) -> y : f32[M, F] {\n  param w : f32[F, C] \"weight\"\n"
                      "  t[m,f] = sum[c](x[m,c] * w[f,c])  # linear\n  y[m,f] = t[m,f] * 1\n}\n"
                      "input x : f32[M, K]\noutput y : f32[M]\nz = linear[F=N](x) at \"up\"\ny[m] = sum[n](z[m,n])  # "
                      "model.py:3\n"),
            "part[c] = sum[n](up_w[n,c])  # model.py:3\ny[m] = sum[c](x[m,c] * part[c])  # model.py:3\n");
}

// Of a product with a diagonal matrix one term is left, of one with a triangle of ones a prefix.
TEST(Rewrites, ZerosOfADiagonalAreLeftOut) {
  const std::string head =
      "program p\ndim K = 64, N = 32, M = 64\ninput a : f32[K]\ninput b : f32[K, N]\noutput y : f32[M, N]\n";
  EXPECT_EQ(rewritten(head + "d[m,k] = select(k == m, a[k], 0) for m<M\ny[m,n] = sum[k](d[m,k] * b[k,n])  # x.py:4\n"),
            "y[m,n] = a[m] * b[m,n]  # x.py:4\n");
  EXPECT_EQ(rewritten(head + "y[m,n] = sum[k](b[k,n] * select(k == M-1-m, 1, 0)) for m<M\n"),
            "y[m,n] = b[-m+63,n] for m < M\n");
  EXPECT_EQ(rewritten(head + "y[m,n] = sum[k](select(k != m, 0, a[k]) * b[k,n]) for m<M\n"),
            "y[m,n] = a[m] * b[m,n]\n");
}

TEST(Rewrites, ZerosAroundAPrefixAreLeftOut) {
  const std::string head = "program p\ndim M = 16, K = 64, N = 64\ninput x : f32[M, K]\noutput y : f32[M, N]\n";
  EXPECT_EQ(rewritten(head + "y[m,n] = sum[k](x[m,k] * select(k <= n, 1, 0)) for n<N\n"),
            "y[m,n] = sum[k where k <= n](x[m,k]) for n < N\n");
  EXPECT_EQ(rewritten(head + "y[m,n] = 2 * sum[k](select(k <= n, 0, 0.5) * x[m,k]) for n<N\n"),
            "y[m,n] = 2 * sum[k where k >= n+1](0.5 * x[m,k]) for n < N\n");
  EXPECT_EQ(rewritten(head + "y[m,n] = sum[k](x[m,k] * (k <= n)) for n<N\n"),
            "y[m,n] = sum[k where k <= n](x[m,k]) for n < N\n");
}

// Another triangle stays a product of matrices; what may be infinite or stop is not left out, and no more than a mask
// that values decide.
TEST(Rewrites, OtherZerosStay) {
  const std::string head =
      "program p\ndim K = 64, N = 64, M = 64\nparam w : f32[M, K] \"w\"\ninput x : f32[K, N]\ninput i : i64[K]\noutput "
      "y : f32[M, N]\n";
  for (const char* equation : {"y[m,n] = sum[k](select(k <= m, w[m,k], 0) * x[k,n])\n",
                               "y[m,n] = sum[k](select(k == m, w[m,k], 0) * exp(x[k,n]))\n",
                               "y[m,n] = sum[k](select(k == m, w[m,k], 0) / x[k,n])\n",
                               "y[m,n] = sum[k](select(k == m+1, w[m,k], 0) * x[k,n])\n",
                               "y[m,n] = sum[k](select(i[k] == m, w[m,k], 0) * x[k,n])\n",
                               "y[m,n] = max[k](select(k == m, w[m,k], 0) * x[k,n])\n",
                               "y[m,n] = sum[k](select(k == m, w[m,k], 0) * x[i[k],n])\n",
                               "y[m,n] = sum[k](select(k == m, w[m,k], 1) * x[k,n])\n"})
    EXPECT_EQ(rewritten(head + equation, "leave_out_zeros"), equation);
}

TEST(Rewrites, ThoseThatKeepNanAloneOnRequest) {
  const BoundText problem = bound_here(
      "program p\ndim K = 64, N = 32, M = 64\ninput a : f32[K]\ninput b : f32[K, N]\noutput y : f32[M, N]\n"
      "d[m,k] = select(k == m, a[k], 0) for m<M\ny[m,n] = sum[k](d[m,k] * b[k,n])\nz[m] = 2 * (3 * a[m])\n");
  RewriteOptions options;
  options.keep_nonfinite = true;
  const auto out = rewrite_all(problem, options);
  ASSERT_TRUE(out.ok());
  for (const Site& step : out->steps) EXPECT_TRUE(step.rewrite->keeps_nonfinite) << step.rewrite->name;
}

}  // namespace
}  // namespace solstice::ir
