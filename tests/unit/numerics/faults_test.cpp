// Faults of a matrix product that each policy must refuse, and the arithmetic that it must let pass. Products are made
// on the CPU: operands rounded as a format holds them, exact sums, errors taken as the judge takes them
// (docs/measuring.md).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "ir/bind.h"
#include "numerics/policy.h"

namespace solstice::numerics {
namespace {

constexpr int kM = 256, kN = 256, kK = 1024;
using Matrix = std::vector<double>;
using Format = std::function<double(double)>;

// To `bits` of significand, the leading one included, with exponents from `least` on.
Format rounded_to(int bits, int least = -1000) {
  return [=](double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    const int unit = std::max(exponent - bits, least);
    return std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  };
}
const Format kTF32 = rounded_to(11), kBF16 = rounded_to(8), kFP8 = rounded_to(4), kExact = [](double x) { return x; };

struct Tile {
  int m = 0, n = 0, k = 0, m_end = kM, n_end = kN, k_end = kK;
};

struct Operands {
  Matrix a, b;  // MxK, KxN
};

Operands random_operands(bool positive = false, double scale = 1) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, scale);
  Operands out{Matrix(kM * kK), Matrix(kK * kN)};
  for (Matrix* each : {&out.a, &out.b}) {
    for (double& x : *each) x = static_cast<float>(positive ? std::abs(normal(random)) : normal(random));
  }
  return out;
}

// c += a * b over the tile.
void multiply(const Operands& of, const Tile& tile, const Format& format, Matrix& c) {
  Matrix a = of.a, b = of.b;
  for (double& x : a) x = format(x);
  for (double& x : b) x = format(x);
  for (int m = tile.m; m < tile.m_end; ++m) {
    for (int k = tile.k; k < tile.k_end; ++k) {
      for (int n = tile.n; n < tile.n_end; ++n) c[m * kN + n] += a[m * kK + k] * b[k * kN + n];
    }
  }
}

void clear(const Tile& tile, Matrix& c) {
  for (int m = tile.m; m < tile.m_end; ++m)
    std::fill(c.begin() + m * kN + tile.n, c.begin() + m * kN + tile.n_end, 0.0);
}

Matrix product(const Operands& of, const Format& format) {
  Matrix c(kM * kN);
  multiply(of, {}, format, c);
  return c;
}

// Against the exact product; the scale is an element's own size, at least its row's root mean square.
Errors errors_of(const Matrix& got, const Matrix& exact) {
  double error2 = 0, norm2 = 0, largest = 0;
  for (int m = 0; m < kM; ++m) {
    double row2 = 0;
    for (int n = 0; n < kN; ++n) row2 += exact[m * kN + n] * exact[m * kN + n];
    for (int n = 0; n < kN; ++n) {
      const double o = exact[m * kN + n], off = std::abs(static_cast<float>(got[m * kN + n]) - o);
      error2 += off * off;
      largest = std::max(largest, off / std::max(std::abs(o), std::sqrt(row2 / kN)));
    }
    norm2 += row2;
  }
  return {std::sqrt(error2 / norm2), largest};
}

struct Judged {
  explicit Judged(bool positive) : operands(random_operands(positive)) {}
  Operands operands;
  Matrix exact = product(operands, kExact);

  std::string verdict(Policy policy, const Matrix& got) const {
    const Errors pytorch{6e-7, 3e-6};  // what strict fp32 comes to here
    return violation(limit_of(policy, pytorch, {.k = kK, .elements = kM * kN}), errors_of(got, exact));
  }
};

class Faults : public ::testing::TestWithParam<bool>, protected Judged {
 protected:
  Faults() : Judged(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Values, Faults, ::testing::Bool(),
                         [](const auto& values) { return values.param ? "Positive" : "RandomSign"; });

TEST_P(Faults, TheArithmeticOfAPolicyPasses) {
  EXPECT_EQ(verdict(Policy::kHigh, product(operands, kTF32)), "");
  EXPECT_EQ(verdict(Policy::kMedium, product(operands, kBF16)), "");
}

// A ReLU halves the squares of a row, not the errors of what it leaves.
TEST_P(Faults, TheArithmeticOfAPolicyPassesBehindAClamp) {
  const auto clamped = [](Matrix c) {
    for (double& x : c) x = std::max(x, 0.0);
    return c;
  };
  exact = clamped(exact);
  EXPECT_EQ(verdict(Policy::kHigh, clamped(product(operands, kTF32))), "");
  EXPECT_EQ(verdict(Policy::kMedium, clamped(product(operands, kBF16))), "");
}

TEST_P(Faults, OnePartOfTheWorkGoneIsRefused) {
  for (const auto& [policy, format] : {std::pair(Policy::kHigh, kTF32), {Policy::kMedium, kBF16}}) {
    const Matrix whole = product(operands, format);
    const auto refused = [&, policy = policy, format = format](const char* what, const Tile& tile, int k_from,
                                                               int k_to) {
      Matrix c = whole;
      clear(tile, c);
      Tile before = tile, behind = tile;
      before.k_end = k_from, behind.k = k_to;
      multiply(operands, before, format, c);
      multiply(operands, behind, format, c);
      EXPECT_NE(verdict(policy, c), "") << what;
    };
    refused("a k block", {}, 512, 544);
    refused("the last 8 of k", {}, kK - 8, kK);
    refused("a k block of one tile", {64, 64, 0, 80, 80, kK}, 512, 544);
    refused("a tile", {64, 64, 0, 80, 80, kK}, 0, kK);
    refused("an element", {100, 101, 0, 101, 102, kK}, 0, kK);
  }
}

TEST_P(Faults, ATileFromElsewhereIsRefused) {
  for (Policy policy : {Policy::kHigh, Policy::kMedium}) {
    Matrix c = product(operands, kTF32);
    for (int m = 64; m < 80; ++m) std::copy_n(c.begin() + (m + 16) * kN + 64, 16, c.begin() + m * kN + 64);
    EXPECT_NE(verdict(policy, c), "");
  }
}

// On terms of one sign bf16 errors average away, so that a product of them is as good as one of TF32: other values
// tell.
TEST(Fault, ANarrowerFormatIsRefused) {
  const Judged judged(false);
  EXPECT_NE(judged.verdict(Policy::kHigh, product(judged.operands, kBF16)), "");
  EXPECT_NE(judged.verdict(Policy::kMedium, product(judged.operands, kFP8)), "");
  EXPECT_NE(judged.verdict(Policy::kReference, product(judged.operands, kTF32)), "");
}

// Too few elements for the norm to see; the largest error does.
TEST(Fault, ANarrowerFormatInOneTileIsRefused) {
  const Judged judged(false);
  const Tile tile{64, 64, 0, 68, 68, kK};
  for (const auto& [policy, format, wrong] :
       {std::tuple(Policy::kHigh, kTF32, kBF16), {Policy::kMedium, kBF16, kFP8}}) {
    Matrix c = product(judged.operands, format);
    clear(tile, c);
    multiply(judged.operands, tile, wrong, c);
    const std::string found = judged.verdict(policy, c);
    EXPECT_NE(found.find("elementwise"), std::string::npos) << found;
  }
}

// fp16 without scales: values of 1e-6 are subnormal and keep four bits.
TEST(Fault, HalvesWithoutScalesAreRefused) {
  const Operands small = random_operands(false, 1e-6);
  const Matrix exact = product(small, kExact);
  const Limit limit = limit_of(Policy::kHigh, {6e-7, 3e-6}, {.k = kK, .elements = kM * kN});
  EXPECT_NE(violation(limit, errors_of(product(small, rounded_to(11, -24)), exact)), "");
  EXPECT_EQ(violation(limit, errors_of(product(small, rounded_to(11)), exact)), "");
}

// Layers add their roundings up; a linear layer of 8192 has the weights at which TF32 loses most.
TEST(Fault, ProductsInARowMayLoseMore) {
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(
      "program p\ndim M = 64, K = 1024\ninput x : f32[M, K]\nparam w : f32[K, K]\nparam v : f32[K, K]\noutput y : "
      "f32[M, K]\n"
      "h[m,n] = relu(sum[k](x[m,k] * w[n,k]))\nr[m,n] = h[m,n] + x[m,n]\ny[m,n] = sum[k](r[m,k] * v[n,k]) + h[m,n]\n",
      "test", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  const Sum two = longest_sum(*program, program->find_tensor("y"));
  EXPECT_EQ(two.products, 2);
  const double one = limit_of(Policy::kHigh, {}, {.k = 1024}).allowed.normwise;
  EXPECT_NEAR(limit_of(Policy::kHigh, {}, two).allowed.normwise, std::sqrt(2.0) * one, 1e-6);
  EXPECT_DOUBLE_EQ(limit_of(Policy::kReference, {}, two).allowed.normwise,
                   limit_of(Policy::kReference, {}, {.k = 1024}).allowed.normwise);
  // An operand alone may be rounded by half an ulp, and by no more.
  const double alone = limit_of(Policy::kHigh, {}, {.k = 1024, .dominated = true}).allowed.normwise;
  EXPECT_NEAR(alone, std::sqrt(2.0) * std::ldexp(1.0, -11), 2e-5);
  EXPECT_LT(alone, std::sqrt(2.0) * 0.4247 * std::ldexp(1.0, -8));  // bf16
  const double normal = 0.4254, uniform = 0.4437;  // roundings of their values, in units of the unit roundoff
  EXPECT_LT(std::hypot(normal, uniform) * std::ldexp(1.0, -11), one);
}

// What multiplies nothing is as exact under every policy: a lost share of a sum is not TF32's rounding.
TEST(Fault, ResultsWithoutProductsKeepTheLimitOfReference) {
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(
      "program p\ndim M = 64, K = 4096\ninput x : f32[M, K]\ninput w : f32[M, K]\ninput v : f32[K]\n"
      "output relus : f32[M, K]\noutput means : f32[M]\noutput norms : f32[M]\noutput dots : f32[M]\noutput losses : "
      "f32[]\n"
      "output vector : f32[M]\noutput scores : f32[M]\noutput triangle : f32[M, M]\n"
      "relus[m,k] = relu(x[m,k]) * v[k]\nmeans[m] = mean[k](x[m,k])\nnorms[m] = sum[k](x[m,k] * x[m,k])\n"
      "dots[m] = sum[k](x[m,k] * w[m,k])\nlosses[] = mean[m,k]((x[m,k] - w[m,k]) * (x[m,k] - w[m,k]))\n"
      "vector[m] = sum[k](x[m,k] * v[k])\nscores[m] = max[n](sum[k](x[m,k] * w[n,k])) - means[m]\n"
      "triangle[m,n] = sum[k](select(k <= n, -(x[m,k] * w[n,k]), 0))\n",
      "test", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  for (const char* name : {"relus", "means", "norms", "dots", "losses"}) {
    const Sum sum = longest_sum(*program, program->find_tensor(name));
    EXPECT_EQ(sum.products, 0) << name;
    for (Policy policy : {Policy::kHigh, Policy::kMedium}) {
      EXPECT_LT(limit_of(policy, {1e-7, 1e-6}, sum).allowed.normwise, 1.2e-6) << name;
      EXPECT_LT(limit_of(policy, {1e-7, 1e-6}, sum).allowed.elementwise, 3e-6) << name;
    }
  }
  for (const char* name : {"vector", "scores", "triangle"}) {
    EXPECT_EQ(longest_sum(*program, program->find_tensor(name)).products, 1) << name;
  }
}

}  // namespace
}  // namespace solstice::numerics
