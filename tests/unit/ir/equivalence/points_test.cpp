// Tests at the real shapes, their tolerance and coverage, and literals that stand for dims.
#include "ir/equivalence/points.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/bind.h"
#include "ir/equivalence.h"
#include "ir/equivalence/magnitude.h"
#include "ir/interpret/hoist.h"
#include "unit/ir/equivalence/asked.h"

namespace solstice::ir {
namespace {

const std::string kProduct =
    "dim M = 65536, N = 65536, K = 8192\ninput x : f32[M, K]\nparam w : f32[N, K] \"w\"\noutput y : f32[M, N]\n";

TEST(PointTest, ADifferenceOfOneRealElementIsFound) {
  // At the end of the real dims alone, behind the boundary of a piece.
  const std::string problem = kProduct + "y[m,n] = sum[k](x[m,k] * w[n,k])";
  const Equivalence e = asked(
      problem, kProduct + "y[m,n] = sum[k](x[m,k] * w[n,k]) for n < N-1\ny[m,N-1] = sum[k](w[N-1,k] * x[m,k]) + 1");
  EXPECT_EQ(e.verdict, Verdict::kRefuted) << e.reason;
  ASSERT_FALSE(e.counterexamples.empty());
  EXPECT_EQ(e.counterexamples[0].index[1], 65535);
  const Equivalence inside = asked(problem, kProduct + "y[m,n] = select(n == 1000, 0, sum[k](w[n,k] * x[m,k]))");
  EXPECT_EQ(inside.verdict, Verdict::kRefuted) << inside.reason;
}

TEST(PointTest, CornersBoundariesAndResiduesAreChosen) {
  Boundaries boundaries;
  boundaries.values = {1000};
  boundaries.residues = 4;
  const std::vector<int64_t> at = positions_of({4096, 8192}, boundaries);
  const auto has = [&](int64_t i, int64_t j) { return std::count(at.begin(), at.end(), i * 8192 + j) == 1; };
  for (const int64_t i : {0, 1, 2048, 4094, 4095}) {
    for (const int64_t j : {0, 1, 4096, 8190, 8191}) EXPECT_TRUE(has(i, j)) << i << "," << j;
  }
  for (const int64_t near : {999, 1000, 1001, 2, 3}) {
    EXPECT_TRUE(std::any_of(at.begin(), at.end(), [&](int64_t p) { return p / 8192 == near; })) << near;
    EXPECT_TRUE(std::any_of(at.begin(), at.end(), [&](int64_t p) { return p % 8192 == near; })) << near;
  }
  EXPECT_EQ(positions_of({3, 5}, boundaries).size(), 15u);
}

// What a function's derivative reads again stays one expression, from the magnitudes to what the interpreter compiles:
// as a tree two layers have 9.7e5 nodes.
TEST(PointTest, MagnitudesOfNestedFunctionsAreEvaluatedOnce) {
  std::string nested = "sum[k](max(x[m,k], 0)*w[n,k])";
  for (int layer = 0; layer < 2; ++layer) nested = "gelu_tanh(clamp(" + nested + ", -63, 63))";
  Diagnostics diagnostics;
  const auto program = load_program(
      "program p\ndim M = 4, N = 4, K = 8\ninput x : f32[M, K]\ninput w : f32[N, K]\noutput y : f32[M, N]\ny[m,n] = " +
          nested + "\n",
      "test", diagnostics);
  ASSERT_TRUE(program.ok()) << render_text(diagnostics, nested, "test");
  std::set<const Expr*> found;
  const auto visit = [&](const auto& self, const ExprRef& e) -> void {
    if (!found.insert(e.get()).second) return;
    for (const ExprRef& a : e->args) self(self, a);
  };
  for (const Equation& e : hoist_reductions(with_magnitudes(*program, true, 1e-3)).equations) visit(visit, e.rhs);
  EXPECT_LT(found.size(), 500u);
}

// Values that are tiny beside the terms that they are the difference of, next to values that are not.
TEST(PointTest, ToleranceIsOfTheSumOfAbsoluteTerms) {
  const std::string head = "dim M = 64, N = 4096\ninput x : f32[M, N]\noutput y : f32[M]\n";
  const std::string problem = head + "y[m] = sum[n](x[m,n]) * select(m == 0, 1e-12, 1)";
  EXPECT_EQ(asked(problem, head + "y[m] = sum[n](x[m,n]) * select(m == 0, 1.00001e-12, 1)").verdict, Verdict::kRefuted)
      << "the other rows are larger by 1e12, which excuses nothing";
  const std::string cancels = head + "y[m] = sum[n](x[m,n] - 1e5) + N * 1e5";
  EXPECT_EQ(asked(cancels, head + "y[m] = sum[n](max(x[m,n], 0) + min(x[m,n], 0))").verdict, Verdict::kTested);
  const Equivalence large =
      asked(head + "y[m] = sum[n](x[m,n])", head + "y[m] = (sum[n](x[m,n]) * 1.0001 + 1e30) - 1e30");
  EXPECT_EQ(large.verdict, Verdict::kRefuted) << "the candidate's own terms excuse nothing";
}

// A bound of rounding errors that adds up layer by layer would excuse anything behind a dozen of them.
TEST(PointTest, ToleranceBehindManyLayersIsWhatErrorsDo) {
  static constexpr int kLayers = 16;
  const auto net = [](const std::string& act, bool moments) {
    std::string out = "dim T = 8, D = 16, F = 64\ninput h0 : f32[T, D]\n", layers;
    for (int l = 0; l < kLayers; ++l) {
      out += fmt::format("param up{0} : f32[F, D] \"{0}.up\"\nparam dn{0} : f32[D, F] \"{0}.dn\"\n", l);
      layers += fmt::format("m{0}[t] = mean[d](h{0}[t,d])\nv{0}[t] = ", l);
      layers +=
          moments ? fmt::format("mean[d](h{0}[t,d]**2) - m{0}[t]**2\n", l) : fmt::format("var[d](h{0}[t,d])\n", l);
      layers +=
          fmt::format("g{0}[t,f] = {1}(sum[d]((h{0}[t,d] - m{0}[t])*rsqrt(v{0}[t] + 1e-5)*up{0}[f,d]))\n", l, act);
      layers += fmt::format("h{1}[t,d] = h{0}[t,d] + sum[f](g{0}[t,f]*dn{0}[d,f])\n", l, l + 1);
    }
    return out + fmt::format("output h{} : f32[T, D]\n", kLayers) + layers;
  };
  const Equivalence other = asked(net("gelu", false), net("gelu_tanh", false));
  EXPECT_EQ(other.verdict, Verdict::kRefuted) << other.reason;
  const std::string gelu = net("gelu", false);
  std::string halves = gelu;
  for (size_t at; (at = halves.find("h3[t,d] + sum[f](")) != std::string::npos;)
    halves.replace(at, 10, "max(h3[t,d], 0) + min(h3[t,d], 0) +");
  EXPECT_EQ(asked(gelu, halves).verdict, Verdict::kTested);
  const Verdict reordered = asked(net("gelu", false), net("gelu", true)).verdict;
  EXPECT_TRUE(reordered == Verdict::kTested || reordered == Verdict::kProved);
}

// A variance of equal values is 0 but for rounding, whatever the values.
TEST(PointTest, SquaresOfWhatCancelsAreRoundingErrors) {
  const std::string head = "dim N = 64, K = 7\ninput x : f32[N]\ninput b : bool[N]\noutput y : f32[N]\n";
  for (const auto& [problem, candidate] :
       {std::pair("y[n] = var[k<K](tanh(x[n]) + 0.1)", "y[n] = var[k<K](tanh(x[n]) * 0.7)"),
        std::pair("y[n] = mean[k<K]((x[n]/3 - mean[j<K](x[n]/3))**2)", "y[n] = x[n]**2*1.0e-33")}) {
    const Verdict v = asked(head + problem, head + candidate).verdict;
    EXPECT_TRUE(v == Verdict::kTested || v == Verdict::kProved) << candidate;
  }
  EXPECT_EQ(asked(head + "y[n] = var[k<K](tanh(x[n]) + 0.1)", head + "y[n] = 1.0e-9*x[n]**2").verdict,
            Verdict::kRefuted);
}

TEST(PointTest, IntegersAreComparedExactly) {
  const std::string head = "dim N = 4096\ninput i : i64[N]\noutput y : i64[N]\n";
  EXPECT_EQ(asked(head + "y[n] = i[n] * 1000000000000", head + "y[n] = i[n] * 1000000000000 + 1").verdict,
            Verdict::kRefuted);
  EXPECT_EQ(asked(head + "y[n] = i[n] * 2", head + "y[n] = i[n] + max(i[n], 0) + min(i[n], 0)").verdict,
            Verdict::kTested);
}

TEST(PointTest, BranchesThatNothingTakesAreNamed) {
  const std::string head = "dim N = 4096\ninput x : f32[N]\noutput y : f32[N]\n";
  const Equivalence e = asked(head + "y[n] = select(x[n] > 3000, 1, x[n] * 2)",
                              head + "y[n] = select(x[n] > 3000, 1, x[n] + max(x[n], 0) + min(x[n], 0))");
  EXPECT_EQ(e.verdict, Verdict::kTested);
  EXPECT_TRUE(e.uncovered.empty()) << "a rescaled family takes it: " << e.reason;
  const Equivalence never = asked(head + "y[n] = select(x[n] - 1 > 1e30, 1, x[n] * 2)",
                                  head + "y[n] = select(x[n] - 1 > 1e30, 2, x[n] + max(x[n], 0) + min(x[n], 0))");
  EXPECT_EQ(never.verdict, Verdict::kTested);
  ASSERT_EQ(never.uncovered.size(), 1u) << never.reason;
  EXPECT_NE(never.uncovered[0].find("> 1e+30"), std::string::npos);
  EXPECT_NE(never.reason.find("taken one way only"), std::string::npos);
  const Equivalence rescaled = asked(head + "y[n] = select(x[n] > 3000, 1, x[n] * 2)",
                                     head + "y[n] = select(x[n] > 3000, 2, x[n] + max(x[n], 0) + min(x[n], 0))");
  EXPECT_EQ(rescaled.verdict, Verdict::kRefuted) << rescaled.reason;
}

TEST(PointTest, ALiteralThatBehavesLikeADimIsNamed) {
  const std::string head = "dim M = 64, K = 8192\ninput x : f32[M, K]\noutput y : f32[M]\n";
  const Equivalence e =
      asked(head + "y[m] = mean[k](x[m,k])", head + "y[m] = sum[k](max(x[m,k], 0) + min(x[m,k], 0)) / 8192");
  EXPECT_EQ(e.verdict, Verdict::kTested) << e.reason;
  ASSERT_EQ(e.warnings.size(), 1u);
  EXPECT_EQ(e.warnings[0].code, "W018");
  EXPECT_NE(e.warnings[0].message.find("8192"), std::string::npos) << e.warnings[0].message;
  EXPECT_EQ(e.warnings[0].hint, "write `K`");
  const Equivalence plain =
      asked(head + "y[m] = mean[k](x[m,k])", head + "y[m] = sum[k](max(x[m,k], 0) + min(x[m,k], 0)) / K");
  EXPECT_EQ(plain.verdict, Verdict::kTested) << plain.reason;
  EXPECT_TRUE(plain.warnings.empty());
  EquivalenceOptions poor;
  poor.point_operations = 1000;
  const Equivalence unknown =
      asked(head + "y[m] = mean[k](x[m,k])", head + "y[m] = sum[k](max(x[m,k], 0) + min(x[m,k], 0)) / 8192", poor);
  EXPECT_EQ(unknown.verdict, Verdict::kUnknown) << unknown.reason;
  EXPECT_EQ(unknown.warnings.size(), 1u);
}

TEST(Magnitude, IsTheSumOfAbsoluteTerms) {
  Diagnostics diagnostics;
  const auto program = load_program(
      "program p\ninput x : f32[2, 4]\noutput y : f32[2]\noutput z : f32[2]\ny[m] = sum[k](x[m,k] * 3) - x[m,0]\n"
      "z[m] = max[k](select(k == 3, -inf, x[m,k]))",
      "t", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  const auto out = interpret(with_magnitudes(*program), {{"x", {{2, 4}, {1, -2, 3, -4, 0, 0, 0, 5}}}});
  ASSERT_TRUE(out.ok()) << out.error().text();
  const auto& terms = out->at(magnitude_name("y")).values;
  EXPECT_GE(terms[0], 3 * 10 + 1);
  EXPECT_LE(terms[0], 2 * 3 * 10 + 1.001);
  EXPECT_EQ(out->at(magnitude_name("z")).values, (std::vector<double>{3, 0})) << "of what wins, not of the mask";
}

// Integers of either sign and of any size, unless the problem stops at them.
TEST(PointTest, IntegersAreNegativeAndLargeToo) {
  const std::string head = "dim N = 64\ninput i : i64[N]\ninput u : u8[N]\ninput x : f32[N]\noutput y : i64[N]\n";
  const std::pair<const char*, const char*> different[] = {
      {"y[n] = i[n] // 2", "y[n] = i64(i[n] / 2)"},
      {"y[n] = abs(i[n])", "y[n] = i[n]"},
      {"y[n] = i[n] % 4", "y[n] = i[n]"},
      {"y[n] = i[n] // 5", "y[n] = 0"},
      {"y[n] = select(i[n] > 10, 1, 0)", "y[n] = 0"},
      {"y[n] = select(i[n] > 0, 1, 0)", "y[n] = select(i[n] != 0, 1, 0)"},
      {"y[n] = min(u[n], 200)", "y[n] = min(u[n], 9)"},
      {"y[n] = min(i[n], 100000)", "y[n] = min(i[n], 1000)"},
      {"y[n] = i[n]", "y[n] = i64(f32(i[n]))"}};
  for (const auto& [problem, candidate] : different)
    EXPECT_EQ(asked(head + problem, head + candidate).verdict, Verdict::kRefuted) << candidate;
  const std::string gather = "y[n] = i64(floor(x[i[n]] * 8))";
  const Equivalence e = asked(head + gather, head + "y[n] = i64(floor(max(x[i[n]], -1.0e30) * 8))");
  EXPECT_EQ(e.verdict, Verdict::kTested) << e.reason;
  EXPECT_GE(e.families, 6) << "a family whose integers the problem does not take is tried with others";
}

TEST(PointTest, IntegersBeyondWhatIsExactAreUnknown) {
  const std::string head = "dim N = 64\ninput i : i64[N]\noutput y : f32[N]\n";
  const auto verdict = [&](const std::string& a, const std::string& b) {
    return asked(head + "y[n] = " + a, head + "y[n] = " + b).verdict;
  };
  EXPECT_EQ(verdict("(i[n]*4611686018427387904)*1.0", "(i[n]*4611686018427387905)*1.0"), Verdict::kUnknown);
  EXPECT_EQ(verdict("i[n]*9007199254740993", "i[n]*9007199254740992"), Verdict::kUnknown);
  EXPECT_EQ(verdict("i[n]*9007199254740993", "9007199254740993*i[n]"), Verdict::kProved);
  const Equivalence e = asked(head + "y[n] = i[n]*9007199254740993", head + "y[n] = 0");
  EXPECT_NE(e.reason.find("beyond 2^53"), std::string::npos) << e.reason;
  EXPECT_EQ(verdict("(i[n]*i[n])*1.0", "abs(i[n])*abs(i[n])*1.0"), Verdict::kTested) << "other inputs stay below";
}

TEST(PointTest, InfinitiesThatAreWrittenAreResults) {
  const std::string head = "dim N = 64\ninput x : f32[N, N]\noutput y : f32[N, N]\n";
  const std::string problem = head + "y[i,j] = select(j <= i, x[i,j], -inf)";
  for (const char* other : {"x[i,j]", "select(j <= i, x[i,j], inf)", "select(j <= i, x[i,j], -1.0e30)",
                            "select(j <= i, x[i,j], log(x[i,j]))"})
    EXPECT_EQ(asked(problem, head + "y[i,j] = " + other).verdict, Verdict::kRefuted) << other;
  EXPECT_EQ(asked(problem, head + "y[i,j] = select(j <= i, max(x[i,j], 0) + min(x[i,j], 0), -inf)").verdict,
            Verdict::kTested);
  EXPECT_EQ(asked(head + "y[i,j] = exp(1000 * x[i,j])", head + "y[i,j] = exp(1000 * (max(x[i,j], 0) + min(x[i,j], 0)))")
                .verdict,
            Verdict::kTested)
      << "an overflow is none";
}

// Scores are compared where the softmax behind them is proved: what a mask hides is part of them.
TEST(PointTest, AMaskThatIsDroppedIsFound) {
  const std::string head =
      "dim T = 1024, D = 64\ninput q : f32[T, D]\ninput k : f32[T, D]\ninput v : f32[T, D]\nparam w : f32[D, "
      "D]\noutput o : f32[T, D]\n"
      "a[i,d] = tanh(sum[c](q[i,c]*w[d,c]))\n";
  const std::string tail =
      "m[i] = max[j](s[i,j])\ne[i,j] = exp(s[i,j]-m[i])\nz[i] = sum[j](e[i,j])\np[i,j] = e[i,j]/z[i]\no[i,d] = "
      "sum[j](p[i,j]*v[j,d])";
  const std::string problem = head + "s[i,j] = select(j <= i, sum[d](a[i,d]*k[j,d]), -inf)\n" + tail;
  for (const char* scores : {"s[i,j] = sum[d](a[i,d]*k[j,d])\n", "s[i,j] = select(j <= i, sum[d](a[i,d]*k[j,d]), 0)\n"})
    EXPECT_EQ(asked(problem, head + scores + tail).verdict, Verdict::kRefuted) << scores;
}

// The format of an input is that of its values; the format of what the program computes is not.
TEST(PointTest, InputsHoldValuesOfTheirFormat) {
  const std::string head =
      "dim N = 64\ninput x : bf16[N]\ninput w : bf16[N]\ninput h : f16[N]\ninput s : f32[N]\ninput e : e4m3[N]\noutput "
      "y : f32[N]\n";
  const std::string branches = "max(x[n], 0) + min(x[n], 0)";
  for (const char* same : {"f32(x[n])", "bf16(x[n])", "f32(bf16(x[n]))"})
    EXPECT_EQ(asked(head + "y[n] = " + branches, head + "y[n] = " + same).verdict, Verdict::kTested) << same;
  EXPECT_EQ(asked(head + "y[n] = e[n]", head + "y[n] = max(f16(e[n]), 0) + min(bf16(e[n]), 0)").verdict,
            Verdict::kTested);
  for (const char* other : {"f16(x[n])", "bf16(h[n])", "f16(s[n])", "e5m2(e[n])"}) {
    const std::string plain = std::string(other).substr(std::string(other).find('(') + 1, 4);
    EXPECT_EQ(asked(head + "y[n] = " + plain, head + "y[n] = " + other).verdict, Verdict::kRefuted) << other;
  }
  const std::string middle = head + "tensor t : bf16[N]\nt[n] = x[n] * w[n]\n";
  EXPECT_EQ(asked(middle + "y[n] = t[n]", middle + "y[n] = bf16(t[n])").verdict, Verdict::kRefuted)
      << "storing rounds nothing";
  const std::string wide = head + "tensor t : f32[N]\nt[n] = x[n] * w[n] + exp(s[n])\n";
  EXPECT_EQ(asked(wide + "y[n] = t[n]", wide + "y[n] = f32(t[n])").verdict, Verdict::kRefuted);
}

TEST(PointTest, TensorsOfOneStorageHoldTheSameValues) {
  const std::string head =
      "dim N = 8, K = 4\nparam x : f32[N, K] \"a\"\nparam w : f32[N, K] \"b\" same x\nparam v : f32[K] \"c\" same "
      "x[2]\noutput y : f32[N, K]\n";
  EXPECT_EQ(asked(head + "y[n,k] = x[n,k] - 2*w[n,k]", head + "y[n,k] = -x[n,k]").verdict, Verdict::kProved);
  EXPECT_EQ(asked(head + "y[n,k] = x[n,k] - 2*w[n,k]", head + "y[n,k] = max(-x[n,k], 0) + min(-w[n,k], 0)").verdict,
            Verdict::kTested);
  EXPECT_EQ(asked(head + "y[n,k] = v[k] + x[n,k]", head + "y[n,k] = w[2,k] + w[n,k]").verdict, Verdict::kTested);
  EXPECT_EQ(asked(head + "y[n,k] = v[k] + x[n,k]", head + "y[n,k] = w[1,k] + w[n,k]").verdict, Verdict::kRefuted);
}

TEST(PointTest, ValuesLieBeyondThePaddingThatAProgramWrites) {
  const std::string head = "dim N = 64\ninput x : f32[N]\nparam w : f32[N]\noutput y : f32[N]\n";
  const auto pooled = [&](const std::string& t, const std::string& pad) {
    return head + "t[n] = " + t + "\ny[n] = max[r<3](t[n+r-1 else " + pad + "])";
  };
  for (const char* t : {"x[n]", "x[n]*w[n]", "w[n] - x[n]"}) {
    EXPECT_EQ(asked(pooled(t, "-inf"), pooled(t, "-1.0e3")).verdict, Verdict::kRefuted) << t;
    EXPECT_EQ(asked(pooled(t, "-1.0e9"), pooled(t, "-inf")).verdict, Verdict::kRefuted) << t;
  }
}

TEST(PointTest, ExtremaOfNothingAreResults) {
  const std::string head = "dim N = 64, K = 8\ninput x : f32[N, K]\noutput y : f32[N]\n";
  const std::string problem = head + "y[n] = max[k where k < n](x[n,k])";
  EXPECT_EQ(asked(problem, head + "y[n] = max[k where k < n](x[n,k] + 0*log(n))").verdict, Verdict::kTested);
  EXPECT_EQ(asked(problem, head + "y[n] = max[k where k < max(n, 1)](x[n,k])").verdict, Verdict::kRefuted);
  EXPECT_EQ(asked(problem, head + "y[n] = select(n == 0, 0, max[k where k < n](x[n,k]))").verdict, Verdict::kRefuted);
}

TEST(PointTest, PointsThatAskForNothingAreCounted) {
  const std::string head = "dim N = 64\ninput x : f32[N]\noutput y : f32[N]\n";
  const Equivalence e = asked(head + "y[n] = sqrt(x[n])**2", head + "y[n] = x[n]");
  EXPECT_EQ(e.verdict, Verdict::kTested);
  EXPECT_GT(e.unasked, 0);
  EXPECT_NE(e.reason.find("differ where the problem's are infinite or NaN"), std::string::npos) << e.reason;
}

// One value of an input may hide what another shows.
TEST(PointTest, SmallTensorsAreTriedOftenAndPointsWithSeveralValues) {
  const std::string head = "dim N = 3, M = 8192\ninput x : f32[N]\ninput z : f32[M, M]\noutput y : f32[N]\n";
  EXPECT_EQ(asked(head + "y[n] = x[n]", head + "y[n] = select(x[0] == 0, 1, x[n])").verdict, Verdict::kRefuted);
  const std::string large = "dim M = 8192\ninput z : f32[M, M]\noutput y : f32[M, M]\n";
  EXPECT_EQ(asked(large + "y[m,n] = select(7*m + 3*n == 3, 0, z[m,n])", large + "y[m,n] = z[m,n]").verdict,
            Verdict::kRefuted);
}

TEST(PointTest, EndsOfLongRowsAndTiesDecide) {
  const std::string head = "dim M = 64, K = 8192\ninput x : f32[M, K]\noutput y : f32[M]\n";
  for (const char* missed : {"k < K-1", "k > 0", "k < 8064", "k != 4000", "k < 100 or k > 200"}) {
    const std::string where = fmt::format("[k where {}](x[m,k])", missed);
    EXPECT_EQ(asked(head + "y[m] = max[k](x[m,k])", head + "y[m] = max" + where).verdict, Verdict::kRefuted) << missed;
    EXPECT_EQ(asked(head + "y[m] = min[k](x[m,k])", head + "y[m] = min" + where).verdict, Verdict::kRefuted) << missed;
  }
  const std::string row = "dim N = 64\ninput x : f32[N]\ninput w : f32[N]\ninput b : bool[N]\noutput y : f32[N]\n";
  EXPECT_EQ(asked(row + "y[n] = round(x[n])", row + "y[n] = floor(x[n]+0.5)").verdict, Verdict::kRefuted);
  EXPECT_EQ(asked(row + "y[n] = select(x[n] > 0.125, 1, 0)", row + "y[n] = select(x[n] >= 0.125, 1, 0)").verdict,
            Verdict::kRefuted);
  EXPECT_EQ(asked(row + "y[n] = select(b[n], x[n]/w[n], 0)", row + "y[n] = select(b[n], x[n], 0)/w[n]").verdict,
            Verdict::kRefuted);
}

}  // namespace
}  // namespace solstice::ir
