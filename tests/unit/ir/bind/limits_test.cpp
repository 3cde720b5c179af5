// What a program may expand to, what integers may reach, and what storage may hold.
#include <gtest/gtest.h>

#include "ir/bind.h"

namespace solstice::ir {
namespace {

// The codes of what is said of `items` behind a few declarations.
std::string said_of(const std::string& items) {
  const std::string text =
      "program p\ndim M = 8, N = 12\ninput x : f32[M, N]\ninput w : f32[M, N]\ninput id : i64[M]\noutput y : f32[M, "
      "N]\n" +
      items;
  Diagnostics diagnostics;
  (void)load_program(text, "test", diagnostics);
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += (out.empty() ? "" : " ") + d.code;
  return out;
}

// `count` copies of a text, with @ for each one's number and $ for the number before it.
std::string copies(int from, int count, const std::string& text) {
  std::string out;
  for (int i = from; i < from + count; ++i) {
    for (const char c : text)
      out += c == '@' ? std::to_string(i) : c == '$' ? std::to_string(i - 1) : std::string(1, c);
  }
  return out;
}

TEST(BindLimits, EndsWhereTheProgramExpandsTooFar) {
  const std::string end = "y[m,n] = x[m,n]\n";
  const std::string doubling = "fn g0(a) = a + a\n" + copies(1, 40, "fn g@(a) = g$(a) + g$(a)\n");
  EXPECT_EQ(said_of(doubling + "y[m,n] = g9(x[m,n])\n"), "");
  EXPECT_EQ(said_of(doubling + "y[m,n] = g40(x[m,n])\n"), "E023");
  const std::string nested = "fn g0(a) = a*a\n" + copies(1, 40, "fn g@(a) = g$(g$(a))\n");
  EXPECT_EQ(said_of(nested + "y[m,n] = g40(x[m,n])\n"), "E023");
  const std::string thrown_away =
      "fn none(a) = 0\nfn g0(a) = none(a)\n" + copies(1, 40, "fn g@(a) = none(g$(a) + g$(a))\n");
  EXPECT_EQ(said_of(thrown_away + "y[m,n] = g40(x[m,n])\n"), "E023");
  const std::string views =
      "view v0[m] = x[m,0]\n" + copies(1, 40, "view v@[m] = v$[m] for m<4\nview v@[4+m] = v$[m] for m<4\n");
  EXPECT_EQ(said_of(views + "y[m,n] = v40[m]\n"), "E023");
  const std::string defs = "def d0(a : f32[A, B]) -> b : f32[A, B] { b[i,j] = a[i,j] }\n" +
                           copies(1, 30, "def d@(a : f32[A, B]) -> b : f32[A, B] {\n  t = d$(a)\n  b = d$(t)\n}\n");
  EXPECT_EQ(said_of(defs + "y = d5(x)\n"), "");
  EXPECT_EQ(said_of(defs + "y = d30(x)\n"), "E023");
}

TEST(BindLimits, ALongChainIsNoLargeProgram) {
  const std::string chain = "tensor t0 : f32[M, N]\nt0[m,n] = x[m,n]\n" + copies(1, 20000, "t@[m,n] = t$[m,n] + 1\n");
  EXPECT_EQ(said_of(chain + "y[m,n] = t20000[m,n]\n"), "");
}

TEST(BindLimits, ACallOfItselfIsNoDeepCall) {
  EXPECT_EQ(said_of("fn f(a) = h(a)\nfn h(a) = f(a)\ny[m,n] = f(x[m,n])\n"), "E008");
  const std::string deep = "fn g0(a) = a + 1\n" + copies(1, 100, "fn g@(a) = g$(a) + 1\n");
  EXPECT_EQ(said_of(deep + "y[m,n] = g100(x[m,n])\n"), "");
}

TEST(BindLimits, SizesFitTheirNumbers) {
  const std::string end = "y[m,n] = x[m,n]\n";
  EXPECT_EQ(said_of("dim A = 4294967296\ninput u : f32[A, A]\n" + end), "E022");
  EXPECT_EQ(said_of("dim A = 4294967296\ninput u : f32[A]\nt[i,j,k] = u[i]*u[j]*u[k]\n" + end), "E022");
  EXPECT_EQ(said_of("dim A = 2**64\n" + end), "E013");
  EXPECT_EQ(said_of("dim A = 2**30, B = (-1)**7 + 2\ninput u : i8[A, B]\n" + end), "");
  EXPECT_EQ(said_of("buffer b : f32[2, N]\nassume b[0,n] = 1\n" + end), "E022");
  EXPECT_EQ(said_of("y[m,n] = x[4611686018427387904*(4*m),n]\n"), "E001");
}

TEST(BindLimits, GuardsThatAreNoInequalitiesReachTheProof) {
  for (const char* right : {
           "select(n == 0, 0, x[m,n-1])",
           "select(n != 0, x[m,n-1], 0)",
           "select(n == N-1, 0, x[m,n+1])",
           "select(n == 0 or n == N-1, 0, x[m,n-1] + x[m,n+1])",
           "select(n % 2 == 0 and m != 0, x[m-1,n+1], 0)",
           "select((n < 3 or n > 5) and n != 2 and n != 6, x[m,select(n < 2, n, n-6)], 0)",
           "sum[j<N where j != n and j != 0](x[m,j-1])",
           "x[m,n*n % N]",
           "x[m,(n*(n+1) - n*(n-1))//2]",
           "x[m,max[k<N](k)]",
           "select(n < 3, x[m,n**2], 0)",
           "select(n == 0, 0, x[id[m],n-1])",
       }) {
    EXPECT_EQ(said_of(std::string("y[m,n] = ") + right + "\n"), "") << right;
  }
  for (const char* right :
       {"select(n == 1, 0, x[m,n-1])", "select(n == 0 or m == 0, x[m,n-1], 0)", "x[m,n**2]", "x[m,max[k<600](k)]",
        "x[m,sum[k<600](k)]", "x[m,prod[k<600](k + 1)]", "x[m,n*n*n % 100000]"}) {
    EXPECT_EQ(said_of(std::string("y[m,n] = ") + right + "\n"), "E001") << right;
  }
}

TEST(BindLimits, WhatIsWrittenHasAnAddressOfItsOwn) {
  const std::string end = "y[m,n] = x[m,n]\n";
  EXPECT_EQ(said_of("tensor t : f32[M, N] strides(1, M)\nt[m,n] = x[m,n]\n" + end), "");
  EXPECT_EQ(said_of("tensor t : f32[3, 3] strides(2, 3)\nt[m,n] = 1 for m<3, n<3\n" + end), "");
  EXPECT_EQ(said_of("tensor t : f32[M, N] strides(1, 1)\nt[m,n] = x[m,n]\n" + end), "E022");
  EXPECT_EQ(said_of("input u : f32[M, N] strides(0, 1)\n" + end), "");
  EXPECT_EQ(said_of("output u : f32[M, N] strides(0, 1)\nu[m,n] = x[m,n]\n" + end), "E022");
  const std::string shared =
      "tensor a : f32[M, N]\ntensor b : f32[M, N] same a\ntensor c : f32[M, N]\na[m,n] = x[m,n]\n";
  EXPECT_EQ(said_of(shared + "c[m,n] = a[m,n] + 1\nb[m,n] = w[m,n]\ny[m,n] = b[m,n]*c[m,n]\n"), "");
  EXPECT_EQ(said_of(shared + "b[m,n] = w[m,n]\nc[m,n] = a[m,n] + 1\ny[m,n] = b[m,n]*c[m,n]\n"), "E022");
  const std::string part = "output f : f32[M, 2*N]\ntensor a : f32[M, N] same f[0, N]\na[m,n] = x[m,n]\n" + end;
  EXPECT_EQ(said_of(part + "f[m,N+n] = a[m,n] for n<N\nf[m,n] = 2*a[m,n] for n<N\n"), "");
  EXPECT_EQ(said_of(part + "f[m,N+n] = a[m,n] + 1 for n<N\nf[m,n] = 2*a[m,n] for n<N\n"), "E022");
}

TEST(BindLimits, CallsPassWhatTheSignatureSays) {
  const std::string def =
      "def scale(q : f32[A]) -> o : f32[A] {\n  param p : f32[A] \"p\"\n  o[a] = q[a]*p[a]\n}\ninput u : f32[M]\n";
  const std::string end = "\ny[m,n] = r[m] + s[m]\n";
  EXPECT_EQ(said_of(def + "r = scale(u) at \"l\"\ns = scale(r) at \"l\"" + end), "");
  EXPECT_EQ(said_of(def + "r = scale(id) at \"l\"\ns = scale(u) at \"k\"" + end), "E022");
  EXPECT_EQ(
      said_of(def + "input v : f32[3]\nr = scale(u) at \"l\"\ns = scale(u) at \"k\"\nt = scale(v) at \"l\"" + end),
      "E022");
}

TEST(BindLimits, RemaindersAreInRangeWhateverIsDivided) {
  EXPECT_EQ(said_of("y[m,n] = x[min(i64(log(n)) + 8, 15) % 8,n]\n"), "");
  EXPECT_EQ(said_of("y[m,n] = x[((n > m) * 4 + select(n < 3, n, min(i64(log(n)) + 8, 15))) % 8,n]\n"), "");
  EXPECT_EQ(said_of("y[m,n] = x[min(n + 8, 15) % 9,n]\n"), "E001");
}

}  // namespace
}  // namespace solstice::ir
