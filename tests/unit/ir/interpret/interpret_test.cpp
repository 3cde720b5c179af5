#include "ir/interpret.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "ir/bind.h"
#include "ir/interpret/rounding.h"

namespace solstice::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Program bind_text(const std::string& text) {
  Diagnostics diagnostics;
  auto program = load_program("program p\n" + text, "test", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  return program.ok() ? std::move(*program) : Program();
}

// Reproducible values in (-1, 1).
TensorValue noise(std::vector<int64_t> shape, uint64_t seed) {
  TensorValue out;
  out.shape = std::move(shape);
  int64_t n = 1;
  for (const int64_t e : out.shape) n *= e;
  uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < n; ++i) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    out.values.push_back(static_cast<double>(static_cast<int64_t>(s >> 11)) / 4503599627370496.0 - 1);
  }
  return out;
}

std::vector<double> result(const std::string& text, const TensorValues& inputs, const std::string& name = "y") {
  const Program program = bind_text(text);
  auto out = interpret(program, inputs);
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? out->at(name).values : std::vector<double>();
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(actual[i])) << i;
    } else {
      EXPECT_DOUBLE_EQ(actual[i], expected[i]) << i;
    }
  }
}

TEST(Interpret, MatrixProduct) {
  const TensorValue a = noise({70, 33}, 1);
  const TensorValue b = noise({50, 33}, 2);
  std::vector<double> expected;
  for (int m = 0; m < 70; ++m) {
    for (int n = 0; n < 50; ++n) {
      long double sum = 0;
      for (int k = 0; k < 33; ++k)
        sum += static_cast<long double>(a.values[static_cast<size_t>(m * 33 + k)]) *
               b.values[static_cast<size_t>(n * 33 + k)];
      expected.push_back(static_cast<double>(sum));
    }
  }
  const auto y =
      result("input a : f32[70, 33] input b : f32[50, 33] output y : f32[70, 50] y[m,n] = sum[k](a[m,k] * b[n,k])",
             {{"a", a}, {"b", b}});
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-14);
}

TEST(Interpret, InverseErfUndoesErf) {
  const TensorValue x = {{7}, {0, 1e-12, 0.3, -0.7, 0.999, 1 - 1e-13, -1}};
  const auto y = result("input x : f64[7] output y : f64[7] y[n] = erf(erfinv(x[n]))", {{"x", x}});
  expect_near(y, x.values);
  const TensorValue beyond = {{2}, {1.5, -2}};
  expect_near(result("input x : f64[2] output y : f64[2] y[n] = erfinv(x[n])", {{"x", beyond}}),
              {std::nan(""), std::nan("")});
}

TEST(Interpret, CommonBitsAreThoseOfTwosComplement) {
  const TensorValue a = {{4}, {12, -5, -8, 1099511627776.0 + 5}}, b = {{4}, {10, -4, 7, -1}};
  const auto y =
      result("input a : i64[4] input b : i64[4] output y : i64[4] y[n] = bit_and(a[n], b[n])", {{"a", a}, {"b", b}});
  expect_near(y, {8, -8, 0, 1099511627776.0 + 5});
}

TEST(Interpret, PaddedStridedConvolution) {
  const TensorValue x = noise({2, 3, 7, 6}, 3);
  const TensorValue w = noise({4, 3, 3, 3}, 4);
  const auto at = [&](int n, int c, int h, int v) {
    return h < 0 || h >= 7 || v < 0 || v >= 6 ? 0.0 : x.values[static_cast<size_t>(((n * 3 + c) * 7 + h) * 6 + v)];
  };
  const auto y = result(
      "input x : f32[2,3,7,6] param w : f32[4,3,3,3] output y : f32[2,4,4,6] "
      "y[n,k,p,q] = sum[c,r,s](x[n,c,2*p+r-1,q+s-1 else 0] * w[k,c,r,s])",
      {{"x", x}, {"w", w}});
  size_t i = 0;
  for (int n = 0; n < 2; ++n)
    for (int k = 0; k < 4; ++k)
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 6; ++q) {
          double sum = 0;
          for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                sum +=
                    at(n, c, 2 * p + r - 1, q + s - 1) * w.values[static_cast<size_t>(((k * 3 + c) * 3 + r) * 3 + s)];
              }
          EXPECT_NEAR(y[i++], sum, 1e-13);
        }
}

TEST(Interpret, TransposedConvolutionAsItsRelation) {
  // [in] = 3 samples, stride 2, padding 1, 3 taps
  expect_near(result("input x : f32[3] param w : f32[3] output y : f32[6] y[u] = sum[i,r where u == "
                     "2*i+r-1](x[i] * w[r])",
                     {{"x", {{3}, {1, 2, 3}}}, {"w", {{3}, {10, 100, 1000}}}}),
              {100, 1020, 200, 2030, 300, 3000});
}

TEST(Interpret, Reducers) {
  const TensorValues in = {{"x", {{2, 4}, {3, 1, 3, -2, 5, 0.5, -1, 5}}}};
  const auto row = [&](const std::string& e, const char* type = "f32") {
    return result(std::string("input x : f32[2, 4] output y : ") + type + "[2] y[m] = " + e, in);
  };
  expect_near(row("sum[k](x[m,k])"), {5, 9.5});
  expect_near(row("prod[k](x[m,k])"), {-18, -12.5});
  expect_near(row("max[k](x[m,k])"), {3, 5});
  expect_near(row("min[k](x[m,k])"), {-2, -1});
  expect_near(row("mean[k](x[m,k])"), {1.25, 2.375});
  expect_near(row("var[k](x[m,k])"), {(9 + 1 + 9 + 4) / 4.0 - 1.25 * 1.25, (25 + 0.25 + 1 + 25) / 4 - 2.375 * 2.375});
  expect_near(row("argmax[k](x[m,k])", "i64"), {0, 0});
  expect_near(row("argmin[k](x[m,k])", "i64"), {3, 2});
  expect_near(row("argtop[k; 2](x[m,k])", "i64"), {1, 1});
  expect_near(row("argbot[k; 3](x[m,k])", "i64"), {2, 3});
  expect_near(row("any[k](x[m,k] > 4)", "bool"), {0, 1});
  expect_near(row("all[k](x[m,k] > -2)", "bool"), {0, 1});
  expect_near(row("logsumexp[k](x[m,k])"), {std::log(std::exp(3) * 2 + std::exp(1) + std::exp(-2)),
                                            std::log(std::exp(5) * 2 + std::exp(0.5) + std::exp(-1))});
}

TEST(Interpret, EmptyDomains) {
  const auto row = [&](const std::string& e) {
    return result("input x : f32[3] output y : f32[1] y[m] = " + e + " for m<1", {{"x", {{3}, {1, 2, 3}}}});
  };
  expect_near(row("sum[k where x[k] > 9](x[k])"), {0});
  expect_near(row("prod[k where x[k] > 9](x[k])"), {1});
  expect_near(row("max[k where x[k] > 9](x[k])"), {-kInf});
  expect_near(row("min[k where x[k] > 9](x[k])"), {kInf});
  expect_near(row("mean[k where x[k] > 9](x[k])"), {std::nan("")});
  expect_near(row("logsumexp[k where x[k] > 9](x[k])"), {-kInf});
  const Program p = bind_text("input x : f32[3] output y : i64[] y[] = argmax[k where x[k] > 9](x[k])");
  EXPECT_FALSE(interpret(p, {{"x", {{3}, {1, 2, 3}}}}).ok());
}

TEST(Interpret, NanAndInfinity) {
  const TensorValues in = {{"x", {{4}, {1, std::nan(""), kInf, -kInf}}}};
  expect_near(result("input x : f32[4] output y : f32[4] y[i] = relu(x[i])", in), {1, std::nan(""), kInf, 0});
  expect_near(result("input x : f32[4] output y : f32[4] y[i] = clamp(x[i], -2, 2)", in), {1, std::nan(""), 2, -2});
  expect_near(result("input x : f32[4] output y : f32[] y[] = max[i](x[i])", in), {std::nan("")});
  expect_near(result("input x : f32[4] output y : i64[] y[] = argmin[i](x[i])", in), {1});
  expect_near(result("input x : f32[4] output y : i64[4] y[j] = argtop[i; j](x[i])", in), {1, 2, 0, 3});
  expect_near(result("input x : f32[4] output y : f32[4] y[i] = select(isfinite(x[i]), 1, exp(x[i]))", in),
              {1, std::nan(""), kInf, 0});
}

TEST(Interpret, GuardsKeepReadsInRange) {
  const TensorValues in = {{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"t", {{2}, {-100, 2}}}};
  expect_near(
      result("input x : f32[2, 3] input t : i64[2] output y : f32[] y[] = sum[m where t[m] != -100](x[m,t[m]])", in),
      {6});
  expect_near(
      result("input x : f32[2, 3] input t : i64[2] output y : f32[2] y[m] = select(t[m] >= 0, x[m,t[m]], 7)", in),
      {7, 6});
  expect_near(result("input x : f32[2, 3] input t : i64[2] output y : f32[2] y[m] = select(t[m] >= 0, "
                     "sum[k<3](x[m,t[m]] * k), 7)",
                     in),
              {7, 18});
  const Program p = bind_text("input x : f32[2, 3] input t : i64[2] output y : f32[2] y[m] = x[m,t[m]]");
  const auto out = interpret(p, in);
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.error().text().find("out of range"), std::string::npos);
}

TEST(Interpret, IntegersDivideDownAndNotByZero) {
  const std::string head = "input a : i64[5] input b : i64[5] output y : i64[5] y[i] = ";
  const TensorValues in = {{"a", {{5}, {7, -7, 7, -7, 6}}}, {"b", {{5}, {2, 2, -2, -2, 0}}}};
  expect_near(result(head + "select(b[i] != 0, a[i] // b[i], 9)", in), {3, -4, -4, 3, 9});
  expect_near(result(head + "select(b[i] == 0, 9, a[i] % b[i])", in), {1, 1, -1, -1, 9});
  expect_near(result(head + "sum[j where b[j] != 0 and a[j] // b[j] == i](1)", in), {0, 0, 0, 2, 0});
  for (const char* stops : {"a[i] // b[i]", "a[i] % b[i]", "select(a[i] // b[i] == 5, 1, 2)", "min(4, a[i] // b[i])"}) {
    const auto out = interpret(bind_text(head + stops), in);
    ASSERT_FALSE(out.ok()) << stops;
    EXPECT_NE(out.error().text().find("by 0"), std::string::npos) << out.error().text();
  }
}

// Doubles count to 2^53: beyond, the interpreter stops, where the value is wanted.
TEST(Interpret, IntegersAreExactOrRefused) {
  const std::string head = "program p\ninput i : i64[2]\noutput y : i64[2]\n";
  const auto run = [&](const std::string& y, const std::vector<double>& values) {
    Diagnostics diagnostics;
    const auto program = load_program(head + "y[n] = " + y, "t", diagnostics);
    EXPECT_TRUE(program.ok()) << y;
    const auto out = interpret(*program, {{"i", {{2}, values}}});
    return out.ok() ? Result<std::vector<double>>(out->at("y").values) : Result<std::vector<double>>(out.error());
  };
  constexpr double kLarge = 4503599627370497.0;  // 2^52 + 1
  for (const char* beyond :
       {"i[n] * 2", "i[n] * 4611686018427387905", "i[n] + 9007199254740993", "(i[n]*i[n]) % 7", "sum[k<2](i[k])",
        "prod[k<2](i[k])", "select(i[n]*i[n] > 0, 1, 0)", "9223372036854775807", "i64(1.0e17)", "i[n]**2"}) {
    const auto out = run(beyond, {kLarge, kLarge});
    ASSERT_FALSE(out.ok()) << beyond;
    EXPECT_EQ(out.error().code, Code::not_yet) << beyond << ": " << out.error().text();
  }
  EXPECT_EQ(*run("i[n] + (i[n] - 3)", {kLarge, 5}), (std::vector<double>{9007199254740991.0, 7}));
  EXPECT_EQ(*run("(i[n] - 1) // 2", {kLarge, 5}), (std::vector<double>{2251799813685248.0, 2}));
  EXPECT_EQ(*run("9007199254740991 // i[n]", {2, 4}), (std::vector<double>{4503599627370495.0, 2251799813685247.0}));
  EXPECT_EQ(*run("9007199254740991 % i[n]", {2, 4}), (std::vector<double>{1, 3}));
  EXPECT_EQ(*run("select(i[n] < 9, i[n]*3, 0)", {kLarge, 5}), (std::vector<double>{0, 15})) << "not wanted";
  EXPECT_EQ(*run("min(i[n], 9223372036854775807)", {kLarge, 5}), (std::vector<double>{kLarge, 5}));
  EXPECT_EQ(*run("select(i[n] < 9223372036854775807, 1, 0)", {kLarge, 5}), (std::vector<double>{1, 1}));
}

// A cast to fewer bits is asked only where it is wanted.
TEST(Interpret, GuardsKeepIntegersInRange) {
  const TensorValues in = {{"a", {{2}, {300, 3}}}};
  expect_near(result("input a : i64[2] output y : i64[2] y[i] = select(a[i] < 128, i8(a[i]), 7)", in), {7, 3});
}

TEST(Interpret, Recurrences) {
  const TensorValues in = {{"x", {{4}, {1, 2, 3, 4}}}};
  expect_near(result("input x : f32[4] output y : f32[4] y[t] = y[t-1 else 0] + x[t]", in), {1, 3, 6, 10});
  expect_near(result("input x : f32[4] output y : f32[4] y[t] = 2*y[t+1 else 1] + x[t]", in), {65, 32, 15, 6});
  expect_near(result("input x : f32[4] output y : f32[4] y[t] = x[t] + sum[s where s < t](y[s])", in), {1, 3, 7, 15});
  expect_near(result("input x : f32[4] output y : f32[4] y[0] = x[0] y[t+1] = y[t] * x[t+1] for t<3", in),
              {1, 2, 6, 24});
  expect_near(result("input x : f32[4] output y : f32[4] a[t] = y[t-1 else 0] + x[t] y[t] = 10 * a[t]", in),
              {10, 120, 1230, 12340});
}

TEST(Interpret, ScattersAndPrefixSums) {
  const TensorValues in = {{"x", {{5}, {1, 2, 4, 8, 16}}}, {"i", {{5}, {2, 0, 2, 1, 0}}}};
  expect_near(result("input x : f32[5] input i : i64[5] output y : f32[4] y[r] = sum[j where i[j] == r](x[j])", in),
              {18, 8, 5, 0});
  expect_near(result("input x : f32[5] input i : i64[5] output y : f32[5] y[n] = sum[j where j <= n](x[j])", in),
              {1, 3, 7, 15, 31});
  expect_near(result("input x : f32[5] input i : i64[5] output y : f32[3] y[o] = mean[k where k >= (o*5)//3 "
                     "and k < ((o+1)*5+2)//3](x[k])",
                     in),
              {1.5, 14 / 3.0, 12});
}

TEST(Interpret, HoistedReductionsKeepTheirMeaning) {
  const TensorValue x = noise({40, 30}, 5);
  const auto y = result(
      "input x : f32[40, 30] output y : f32[40, 30] y[m,n] = exp(x[m,n] - max[n](x[m,n])) / "
      "sum[n](exp(x[m,n] - max[j](x[m,j])))",
      {{"x", x}});
  for (size_t m = 0; m < 40; ++m) {
    double top = -kInf;
    double sum = 0;
    for (size_t n = 0; n < 30; ++n) top = std::max(top, x.values[m * 30 + n]);
    for (size_t n = 0; n < 30; ++n) sum += std::exp(x.values[m * 30 + n] - top);
    for (size_t n = 0; n < 30; ++n) EXPECT_NEAR(y[m * 30 + n], std::exp(x.values[m * 30 + n] - top) / sum, 1e-15);
  }
}

TEST(Interpret, SumsAreCompensated) {
  TensorValue x{{3001}, {}};
  x.values.push_back(1e16);
  for (int i = 0; i < 2999; ++i) x.values.push_back(1);
  x.values.push_back(-1e16);
  expect_near(result("input x : f32[3001] output y : f32[] y[] = sum[i](x[i])", {{"x", x}}), {2999});
}

TEST(Interpret, CastsRound) {
  EXPECT_EQ(rounded(DType::kBF16, 1.00390625), 1.0);       // halfway, to even
  EXPECT_EQ(rounded(DType::kBF16, 1.01171875), 1.015625);  // halfway, to even
  EXPECT_EQ(rounded(DType::kF16, 65519.0), 65504.0);
  EXPECT_EQ(rounded(DType::kF16, 65520.0), kInf);
  EXPECT_EQ(rounded(DType::kF16, 5.9604644775390625e-8), 5.9604644775390625e-8);
  EXPECT_EQ(rounded(DType::kF16, 2.9e-8), 0.0);
  EXPECT_EQ(rounded(DType::kE4M3, 448.0), 448.0);
  EXPECT_TRUE(std::isnan(rounded(DType::kE4M3, 500.0)));
  EXPECT_EQ(rounded(DType::kE5M2, 1e6), kInf);
  EXPECT_EQ(rounded(DType::kF32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(rounded(DType::kI32, -1.7), -1.0);
}

TEST(Interpret, NamesWhatIsMissing) {
  const Program p = bind_text("input x : f32[4] output y : f32[4] y[i] = x[i]");
  EXPECT_NE(interpret(p, {}).error().text().find("`x`"), std::string::npos);
  EXPECT_FALSE(interpret(p, {{"x", {{3}, {1, 2, 3}}}}).ok());
  InterpretOptions late;
  late.deadline = Deadline(Seconds(-1));
  EXPECT_EQ(interpret(p, {{"x", {{4}, {1, 2, 3, 4}}}}, late).error().code, Code::deadline);
}

TEST(Interpret, ThreadsAgree) {
  const TensorValues in = {{"a", noise({130, 100}, 6)}, {"b", noise({120, 100}, 7)}};
  const Program p = bind_text(
      "input a : f32[130, 100] input b : f32[120, 100] output y : f32[130, 120] y[m,n] = tanh(sum[k](a[m,k] "
      "* b[n,k]))");
  InterpretOptions two;
  two.threads = 2;
  EXPECT_EQ(interpret(p, in)->at("y").values, interpret(p, in, two)->at("y").values);
}

}  // namespace
}  // namespace solstice::ir
