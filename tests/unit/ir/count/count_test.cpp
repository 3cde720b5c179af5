#include "ir/count.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/bind.h"

namespace solstice::ir {
namespace {

Program load(const std::string& text) {
  Diagnostics diagnostics;
  Result<Program> program = load_program("program test\n" + text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  return program.ok() ? std::move(program).value() : Program{};
}

double read_of(const Program& program, const Count& count, const std::string& name) {
  for (const TensorCount& each : count.inputs) {
    if (program.tensor(each.tensor).name == name) return each.elements;
  }
  return 0;
}

TEST(CountWork, LinearWithGelu) {
  const Program program = load(
      "dim M = 32, N = 48, K = 64\nparam w : f32[N,K] \"w\"\nparam b : f32[N] \"b\"\ninput x : f32[M,K]\n"
      "output y : f32[M,N]\nz[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]\ny[m,n] = gelu(z[m,n])\n");
  const Count all = count(program);
  EXPECT_EQ(all.total().contraction, 32 * 48 * 64);
  EXPECT_EQ(all.total().sfu, 32 * 48);  // erf
  EXPECT_EQ(read_of(program, all, "w"), 48 * 64);
  EXPECT_EQ(read_of(program, all, "b"), 48);
  EXPECT_EQ(read_of(program, all, "x"), 32 * 64);
  ASSERT_EQ(all.outputs.size(), 1U);
  EXPECT_EQ(all.outputs[0].elements, 32 * 48);
}

TEST(CountWork, SubexpressionsCostWhatTheyDependOn) {
  // The sum costs M*K however many n there are, rsqrt M, the product M*N.
  const Program program = load(
      "dim M = 8, N = 100, K = 16\ninput x : f32[M,K]\ninput v : f32[N]\noutput y : f32[M,N]\n"
      "y[m,n] = v[n] * rsqrt(sum[k](x[m,k]))\n");
  const Work work = count(program).total();
  EXPECT_EQ(work.contraction, 0);
  EXPECT_EQ(work.simt, 8 * 16 + 8 * 100);
  EXPECT_EQ(work.sfu, 8);
}

TEST(CountWork, EqualSubexpressionsCostOnce) {
  const Program once = load("dim N = 100\ninput x : f32[N]\noutput y : f32[N]\ny[n] = exp(x[n])\n");
  const Program twice = load("dim N = 100\ninput x : f32[N]\noutput y : f32[N]\ny[n] = exp(x[n]) + exp(x[n])\n");
  EXPECT_EQ(count(twice).total().sfu, count(once).total().sfu);
}

// The io bound counts the first, a good implementation moves the second.
TEST(CountReads, AGatherTouchesASliceAtLeastAndOneALookupAtMost) {
  const auto reads = [](int64_t rows, int64_t lookups) {
    const std::string dims = "dim R = " + std::to_string(rows) + ", L = " + std::to_string(lookups) + ", D = 64\n";
    const Program program = load(dims +
                                 "param table : f32[R,D] \"t\"\ninput ids : i64[L]\noutput y : f32[L,D]\n"
                                 "y[l,d] = table[ids[l],d]\n");
    const Count all = count(program);
    EXPECT_EQ(read_of(program, all, "table"), 64);
    for (const ReadCount& read : all.equations.at(0).reads) {
      if (program.tensor(read.tensor).name == "table") return std::pair(read.elements, read.most);
      EXPECT_EQ(read.elements, read.most);  // the indices themselves are no lookups
    }
    return std::pair(0.0, 0.0);
  };
  EXPECT_EQ(reads(1000000, 500), std::pair(64.0, 500 * 64.0));
  EXPECT_EQ(reads(100, 500), std::pair(64.0, 100 * 64.0));  // the whole table
}

TEST(CountWork, TrianglesAreExact) {
  const Program program = load(
      "dim T = 100, D = 4\ninput q : f32[T,D]\ninput k : f32[T,D]\ninput v : f32[T,D]\noutput o : f32[T,D]\n"
      "s[i,j] = sum[d](q[i,d] * k[j,d])\no[i,d] = sum[j where j <= i](s[i,j] * v[j,d])\n");
  const Count all = count(program);
  ASSERT_EQ(all.equations.size(), 2U);
  EXPECT_EQ(all.equations[1].work.contraction, 100.0 * 101 / 2 * 4);
}

TEST(CountWork, ATriangleOfAProductCostsTheTriangle) {
  const std::string head =
      "dim N = 20, K = 8\ninput a : f32[N,K]\ninput b : f32[K,N]\noutput y : f32[N,N]\np[m,n] = sum[k](a[m,k] * "
      "b[k,n])\n";
  EXPECT_EQ(count(load(head + "y[i,j] = select(j <= i, p[i,j], 0)\n")).total().contraction, 20 * 21 / 2 * 8);
  EXPECT_EQ(count(load(head + "y[i,j] = select(j <= i, 0, p[j,i])\n")).total().contraction, 20 * 19 / 2 * 8);
  // In two places, or elsewhere than element by element: all of it.
  EXPECT_EQ(count(load(head + "y[i,j] = select(j <= i, p[i,j], p[j,i])\n")).total().contraction, 20 * 20 * 8);
  EXPECT_EQ(count(load(head + "y[i,j] = select(j <= i, p[i,19-j], 0)\n")).total().contraction, 20 * 20 * 8);
}
TEST(CountWork, APrefixSumCostsItsTerms) {
  const Program program =
      load("dim M = 4, N = 1000\ninput x : f32[M,N]\noutput y : f32[M,N]\ny[m,n] = sum[j where j <= n](x[m,j])\n");
  EXPECT_EQ(count(program).total().simt, 4 * 1000);
}

// Without a batch index the image has an index of the result only through the equality that gives it.
TEST(CountWork, ATransposedConvolutionIsAContractionInEverySpelling) {
  const std::string declared =
      "dim K = 64, C = 32, P = 128\ninput im : f32[C,P]\ninput f : f32[K,C,3]\noutput y : f32[K,255]\n";
  const Program relation = load(declared + "y[k,u]=sum[c,i,r where u == 2*i+r-1](im[c,i]*f[k,c,r])\n");
  const Program parts = load(declared +
                             "y[k,2*u] = sum[c](im[c,u]*f[k,c,1]) for u<128\n"
                             "y[k,2*u+1] = sum[c,r<2](im[c,u-r+1]*f[k,c,2*r]) for u<127\n");
  const Work one = count(relation).total(), other = count(parts).total();
  EXPECT_EQ(one.contraction, 64.0 * 32 * (128 + 2 * 127));
  EXPECT_EQ(one.contraction, other.contraction);
  EXPECT_EQ(one.simt, 0);
  // A depthwise one reuses the filter alone.
  const Program depthwise = load(
      "dim C = 32, P = 128\ninput im : f32[C,P]\ninput f : f32[C,3]\noutput y : f32[C,255]\n"
      "y[c,u]=sum[i,r where u == 2*i+r-1](im[c,i]*f[c,r])\n");
  EXPECT_EQ(count(depthwise).total().contraction, 0);
}

TEST(CountWork, ASolvedEqualityCostsItsSolutions) {
  // Transposed convolution, stride 2, kernel 3: every (i, r) meets one u, (0, 0) none within the result.
  const Program program = load(
      "dim B = 2, C = 3, K = 5, H = 10\nparam w : f32[C,K,3] \"w\"\ninput x : f32[B,C,H]\noutput y : f32[B,K,2*H]\n"
      "y[n,k,u] = sum[c,i,r where u == 2*i+r-1](x[n,c,i] * w[c,k,r]) for u < 2*H\n");
  const Count all = count(program);
  EXPECT_EQ(all.total().contraction, 2 * 3 * 5 * (10 * 3 - 1));
  EXPECT_EQ(read_of(program, all, "x"), 2 * 3 * 10);
  EXPECT_EQ(read_of(program, all, "w"), 3 * 5 * 3);
}

TEST(CountWork, ProductsAreFactoredInTheCheapestOrder) {
  // (a b) c costs 2*50*3 + 2*3*4, a (b c) 50*3*4 + 2*50*4.
  const Program program = load(
      "dim I = 2, J = 50, K = 3, L = 4\ninput a : f32[I,J]\ninput b : f32[J,K]\ninput c : f32[K,L]\n"
      "output y : f32[I,L]\ny[i,l] = sum[j,k](a[i,j] * b[j,k] * c[k,l])\n");
  EXPECT_EQ(count(program).total().contraction, 2 * 50 * 3 + 2 * 3 * 4);
}

// Every pairwise order by hand: w*g first and x*w first cost C*I*R and what is left of it, x*g first C*I and then
// C*I*R. An index that the condition ties to others is not summed before these are there: summing i in x*g would leave
// C*R more alone.
TEST(CountWork, AConditionKeepsWhatItTiesTogether) {
  const Program program = load(
      "dim C = 4, I = 5, R = 3, U = 13\ninput x : f32[C,I]\ninput w : f32[C,R]\ninput g : f32[I]\noutput y : f32[U]\n"
      "y[u] = sum[c,i,r where u == 2*i+r](x[c,i] * w[c,r] * g[i])\n");
  const Work work = count(program).total();
  const double c = 4, i = 5, r = 3;
  EXPECT_EQ(work.contraction + work.simt, std::min({c * i * r + i * r, c * i + c * i * r, c * i * r + c * i * r}));
}

TEST(CountWork, AGroupedProductIsAContraction) {
  const Program program = load(
      "dim E = 4, M = 16, K = 8, N = 6\nparam w : f32[E,N,K] \"w\"\ninput x : f32[M,K]\ninput e : i64[M]\n"
      "output y : f32[M,N]\ny[m,n] = sum[k](x[m,k] * w[e[m],n,k])\n");
  EXPECT_EQ(count(program).total().contraction, 16 * 6 * 8);
  const Program dot = load(
      "dim E = 4, M = 16, K = 8\nparam w : f32[E,K] \"w\"\ninput x : f32[M,K]\ninput e : i64[M]\n"
      "output y : f32[M]\ny[m] = sum[k](x[m,k] * w[e[m],k])\n");
  EXPECT_EQ(count(dot).total().contraction, 0);
}

TEST(CountLive, DeadEquationsAndPartsCostNothing) {
  const Program program = load(
      "dim N = 100, K = 10\ninput x : f32[N,K]\ninput unused : f32[N]\noutput y : f32[K]\n"
      "a[n,k] = exp(x[n,k])\nb[n] = log(unused[n])\ny[k] = a[7,k] + a[9,k]\n");
  const Count all = count(program);
  EXPECT_EQ(all.equations.size(), 2U);
  EXPECT_EQ(all.total().sfu, 2 * 10);
  EXPECT_EQ(read_of(program, all, "x"), 2 * 10);
  EXPECT_EQ(read_of(program, all, "unused"), 0);
}

TEST(CountBytes, StridedAndPaddedReads) {
  const Program strided = load(
      "dim C = 4, K = 6, H = 16\nparam w : f32[K,C] \"w\"\ninput x : f32[C,H,H]\noutput y : f32[K,H//2,H//2]\n"
      "y[k,p,q] = sum[c](x[c,2*p,2*q] * w[k,c]) for p < H//2, q < H//2\n");
  EXPECT_EQ(read_of(strided, count(strided), "x"), 4 * 8 * 8);
  const Program padded = load(
      "dim H = 16\nparam w : f32[3] \"w\"\ninput x : f32[H]\noutput y : f32[H]\n"
      "y[p] = sum[r](x[p+r-1 else 0] * w[r])\n");
  EXPECT_EQ(read_of(padded, count(padded), "x"), 16);
}

TEST(CountBytes, DisjointPartsAddUp) {
  const Program program =
      load("dim N = 10\ninput x : f32[3*N]\noutput y : f32[N]\ny[n] = x[n] * x[N+n] + x[2*N+n] + x[n] for n < N\n");
  EXPECT_EQ(read_of(program, count(program), "x"), 30);
}

TEST(CountBytes, MasksAndDiagonals) {
  const Program triangle =
      load("dim N = 20\ninput x : f32[N,N]\noutput y : f32[N,N]\ny[i,j] = select(j <= i, x[i,j], 0.0)\n");
  EXPECT_EQ(read_of(triangle, count(triangle), "x"), 20 * 21 / 2);
  const Program diagonal = load("dim N = 20\ninput x : f32[N,N]\noutput y : f32[N]\ny[i] = x[i,i]\n");
  EXPECT_EQ(read_of(diagonal, count(diagonal), "x"), 20);
}

TEST(CountBytes, LongTrianglesAreExact) {
  const Program program = load(
      "dim T = 50000, D = 4\ninput q : f32[T,D]\ninput k : f32[T,D]\noutput o : f32[T]\n"
      "o[i] = sum[j,d where j <= i and j >= 3](q[i,d] * k[j,d])\n");
  const Count all = count(program);
  EXPECT_EQ(read_of(program, all, "k"), 49997 * 4);
  EXPECT_EQ(read_of(program, all, "q"), 49997 * 4);
}

TEST(CountBytes, GathersReadTheIndexAndOneSlice) {
  const Program program = load(
      "dim V = 1000, D = 8, N = 30\nparam e : f32[V,D] \"e\"\ninput t : i64[N]\noutput y : f32[N,D]\n"
      "y[n,d] = e[t[n],d]\n");
  const Count all = count(program);
  EXPECT_EQ(read_of(program, all, "t"), 30);
  EXPECT_EQ(read_of(program, all, "e"), 8);
}

TEST(CountBytes, HugeTensorsAreCountedInClosedForm) {
  const Program program = load("dim N = 3000000000\ninput x : f32[N]\noutput y : f32[N]\ny[n] = 2.0 * x[n]\n");
  const Count all = count(program);
  EXPECT_EQ(read_of(program, all, "x"), 3e9);
  EXPECT_EQ(all.total().simt, 3e9);
  EXPECT_TRUE(all.equations[0].exact);
}

TEST(CountSteps, RecurrencesHaveThem) {
  const Program program = load(
      "dim B = 2, T = 50, U = 8\nparam w : f32[U,U] \"w\"\ninput x : f32[B,T,U]\ninput h0 : f32[B,U]\n"
      "output h : f32[B,T,U]\nh[b,t,j] = tanh(x[b,t,j] + sum[k](h[b,t-1,k else h0[b,k]] * w[j,k]))\n");
  const Count all = count(program);
  ASSERT_EQ(all.equations.size(), 1U);
  EXPECT_EQ(all.equations[0].steps, 50);
  EXPECT_EQ(all.total().contraction, 2 * 50 * 8 * 8);
}

// Bytes of an honest kernel may be fewer than those of its equations, where values decide what it reads.
TEST(CountReads, WhatValuesMayLeaveOutIsNotCertain) {
  const auto read = [](const std::string& equations, const std::string& name) {
    const Program program =
        load("dim M = 8, N = 16\ninput x : f32[M,N]\ninput z : f32[M,N]\ninput i : i32[M,N]\ninput c : bool[M,N]\n" +
             equations);
    return read_of(program, count(program), name);
  };
  EXPECT_EQ(read("output y : bool[M]\ny[m] = any[n](x[m,n] > 2)\n", "x"), 0);
  EXPECT_EQ(read("output y : bool[M]\nt[m,n] = x[m,n] > 2\ny[m] = all[n](t[m,n])\n", "x"), 0);
  EXPECT_EQ(read("output y : i32[M]\ny[m] = max[n](i[m,n])\n", "i"), 0);
  EXPECT_EQ(read("output y : f32[M]\ny[m] = max[n](x[m,n])\n", "x"), 8 * 16);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = select(c[m,n], x[m,n], 0.0)\n", "x"), 0);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = select(c[m,n], x[m,n], 0.0)\n", "c"), 8 * 16);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = select(n < 4, x[m,n], 0.0)\n", "x"), 8 * 4);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = select(c[m,n], x[m,n] + z[m,n], -x[m,n])\n", "x"), 8 * 16);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = select(c[m,n], x[m,n] + z[m,n], -x[m,n])\n", "z"), 0);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = select(x[m,n] > 0 and x[m,n] < 6, x[m,n], 6.0)\n", "x"), 8 * 16);
  EXPECT_EQ(read("output y : bool[M,N]\ny[m,n] = x[m,n] > 0 and z[m,n] > 0\n", "z"), 0);
  EXPECT_EQ(read("output y : f32[M]\ny[m] = sum[n where c[m,n]](x[m,n])\n", "x"), 0);
  EXPECT_EQ(read("output y : f32[M]\ny[m] = sum[n where n <= m](x[m,n])\n", "x"), 8 * 9 / 2);
  EXPECT_EQ(read("output y : f32[M,N]\ny[m,n] = x[m,n] * c[m,n]\n", "x"), 8 * 16);  // 0 * NaN is NaN
}

}  // namespace
}  // namespace solstice::ir
