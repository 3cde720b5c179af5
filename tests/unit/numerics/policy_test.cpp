#include "numerics/policy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/bind.h"

namespace solstice::numerics {
namespace {

using Names = std::vector<std::string>;

Names names(Policy policy, DType dtype, OwnMath own = OwnMath::kStrict) {
  Names out;
  for (Math math : legal_maths(policy, dtype, own)) out.emplace_back(info(math).name);
  return out;
}

TEST(LegalMaths, FollowTheClassOfThePolicy) {
  EXPECT_EQ(names(Policy::kReference, DType::kF32), (Names{"fp16x3", "tf32x3", "bf16x6", "simt"}));
  EXPECT_EQ(names(Policy::kReference, DType::kF32, OwnMath::kTF32), names(Policy::kHigh, DType::kF32));
  EXPECT_EQ(names(Policy::kHigh, DType::kF32), (Names{"fp16", "tf32", "bf16x3", "fp16x3", "tf32x3", "bf16x6", "simt"}));
  EXPECT_EQ(names(Policy::kMedium, DType::kF32).front(), "bf16");
}

TEST(LegalMaths, KeepNarrowAndWideFormats) {
  for (Policy policy : {Policy::kReference, Policy::kHigh, Policy::kMedium}) {
    EXPECT_EQ(names(policy, DType::kBF16), (Names{"bf16", "simt"}));
    EXPECT_EQ(names(policy, DType::kF16), (Names{"fp16", "simt"}));
    EXPECT_EQ(names(policy, DType::kF64), (Names{"f64", "simt"}));
    EXPECT_EQ(names(policy, DType::kE4M3), (Names{"fp8", "simt"}));
    EXPECT_EQ(names(policy, DType::kI32), (Names{"simt"}));
  }
}

TEST(LegalMaths, NamesRoundTrip) {
  for (const MathInfo& each : all_maths()) EXPECT_EQ(math_from_name(each.name), each.math);
  EXPECT_FALSE(math_from_name("fp32"));
  for (Policy policy : {Policy::kReference, Policy::kHigh, Policy::kMedium}) {
    EXPECT_EQ(policy_from_name(name_of(policy)), policy);
  }
  EXPECT_FALSE(policy_from_name("low"));
}

TEST(Limits, TheLongestSumIsOneThatTheOutputDependsOn) {
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(
      "program p\ndim M = 64, N = 4096\ninput x : f32[M, N]\noutput s : f32[M]\noutput y : f32[M, N]\noutput z : "
      "f16[M]\n"
      "s[m] = sum[n](x[m,n])\ny[m,n] = x[m,n] * 2\nz[m] = s[m] + 1\n",
      "test", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(longest_sum(*program, program->find_tensor("s")).k, 512 + 3);  // eight blocks of 512
  EXPECT_EQ(longest_sum(*program, program->find_tensor("y")).k,
            1);  // elementwise: what is summed beside it is no excuse
  EXPECT_EQ(longest_sum(*program, program->find_tensor("z")).k, 512 + 3);
  EXPECT_EQ(longest_sum(*program, program->find_tensor("z")).result, DType::kF16);
}

// PyTorch adds products up to 8192 one after the other; no share of a longer sum may go missing.
TEST(Limits, LongSumsAreNoExcuse) {
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(
      "program p\ndim M = 64, K = 4096, N = 1073741824\ninput x : f32[M, K]\ninput w : f32[M, K]\ninput a : "
      "f32[N]\ninput b : f32[N]\n"
      "output y : f32[M, M]\noutput loss : f32[]\n"
      "y[m,n] = sum[k](x[m,k] * w[n,k])\nloss[] = mean[n]((a[n] - b[n]) * (a[n] - b[n]))\n",
      "test", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(longest_sum(*program, program->find_tensor("y")).k, 4096);
  const Sum loss = longest_sum(*program, program->find_tensor("loss"));
  EXPECT_EQ(loss.k, 512 + 21);
  EXPECT_LT(limit_of(Policy::kReference, {6e-8, 6e-8}, loss).allowed.normwise, 5e-7);
}

TEST(Limits, TakeTheLargestOfThree) {
  const Sum k4096{.k = 4096};
  const Limit modelled = limit_of(Policy::kReference, {1e-9, 1e-9}, k4096);
  EXPECT_EQ(modelled.because, "modelled: 4096 terms, simt");
  EXPECT_NEAR(modelled.allowed.normwise, 1.15e-6, 0.1e-6);
  EXPECT_DOUBLE_EQ(modelled.allowed.elementwise, 2 * modelled.allowed.normwise);
  const Limit measured = limit_of(Policy::kReference, {1e-5, 4e-5}, k4096);
  EXPECT_DOUBLE_EQ(measured.allowed.normwise, 1.1e-5);
  EXPECT_DOUBLE_EQ(measured.allowed.elementwise, 8.8e-5);
  EXPECT_EQ(measured.because, "1.1 x PyTorch's 1e-05");
  const Limit floor = limit_of(Policy::kReference, {0, 0}, {.k = 4});
  EXPECT_DOUBLE_EQ(floor.allowed.normwise, std::ldexp(1.0, -22));
  EXPECT_EQ(floor.because, "2 ulp of f32");
}

// What lies behind a product may amplify its rounding (a normalisation, tanh of a sum that cancels): PyTorch with TF32
// allowed shows by how much.
TEST(Limits, OfALowerClassCountPyTorchWithTF32) {
  const Sum sum{.k = 8192, .elements = 1 << 20};
  const Errors fp32{5e-7, 3e-6}, tf32{4.3e-4, 9e-3};
  for (Policy policy : {Policy::kHigh, Policy::kMedium}) {
    const Limit without = limit_of(policy, fp32, sum),
                with = limit_of(policy, fp32, sum, OwnMath::kStrict, {8e-3, 9e-2});
    EXPECT_EQ(without.because.substr(0, 9), "modelled:");
    EXPECT_DOUBLE_EQ(with.allowed.normwise, 1.1 * 8e-3);
    EXPECT_DOUBLE_EQ(with.allowed.elementwise, 2.2 * 9e-2);
    EXPECT_EQ(with.because, "1.1 x PyTorch's TF32 0.008");
  }
  const Limit high = limit_of(Policy::kHigh, fp32, sum, OwnMath::kStrict, tf32);
  EXPECT_EQ(high.because, "1.1 x PyTorch's TF32 0.00043");
  EXPECT_EQ(violation(high, {4.5e-4, 9e-3}), "");
  EXPECT_NE(violation(high, {4.8e-4, 9e-3}), "");
  // Where the model or PyTorch's own error is larger, these decide.
  EXPECT_EQ(limit_of(Policy::kHigh, fp32, sum, OwnMath::kStrict, {1e-5, 1e-5}).because.substr(0, 9), "modelled:");
  EXPECT_EQ(limit_of(Policy::kHigh, {1e-2, 1e-2}, sum, OwnMath::kStrict, tf32).because, "1.1 x PyTorch's 0.01");
}

TEST(Limits, TF32CountsNowhereElse) {
  const Sum product{.k = 8192}, none{.k = 8192, .products = 0};
  const Errors fp32{5e-7, 3e-6}, tf32{4.3e-4, 9e-3};
  const auto same = [&](Policy policy, const Sum& sum, const Errors& lower) {
    const Limit a = limit_of(policy, fp32, sum), b = limit_of(policy, fp32, sum, OwnMath::kStrict, lower);
    return a.allowed.normwise == b.allowed.normwise && a.allowed.elementwise == b.allowed.elementwise &&
           a.because == b.because;
  };
  EXPECT_TRUE(same(Policy::kReference, product, tf32));
  EXPECT_TRUE(same(Policy::kHigh, none, tf32));
  EXPECT_TRUE(same(Policy::kHigh, product, {NAN, INFINITY}));
}

TEST(Limits, FollowThePolicy) {
  const Sum sum{.k = 1024};
  const double reference = limit_of(Policy::kReference, {}, sum).allowed.normwise;
  const double high = limit_of(Policy::kHigh, {}, sum).allowed.normwise;
  const double medium = limit_of(Policy::kMedium, {}, sum).allowed.normwise;
  EXPECT_LT(reference, 1e-6);
  EXPECT_NEAR(high, 3.2e-4, 0.1e-4);
  EXPECT_NEAR(medium, 2.6e-3, 0.1e-3);
  EXPECT_DOUBLE_EQ(limit_of(Policy::kReference, {}, sum, OwnMath::kTF32).allowed.normwise, high);
}

TEST(Limits, OfALowerClassAllowForTheLargestOfManyErrors) {
  const Sum many{.k = 8192, .elements = 1 << 23}, one{.k = 8192};
  const Errors fp32{5e-7, 3e-6};
  const Limit high = limit_of(Policy::kHigh, fp32, many);
  EXPECT_NEAR(high.allowed.elementwise, 9.56 * high.allowed.normwise, 0.01 * high.allowed.normwise);
  EXPECT_LT(limit_of(Policy::kHigh, fp32, one).allowed.elementwise, high.allowed.elementwise);
  EXPECT_DOUBLE_EQ(limit_of(Policy::kReference, fp32, many).allowed.elementwise,
                   limit_of(Policy::kReference, fp32, one).allowed.elementwise);
  // What TF32 gave on an H200 for 1024 x 8192 x 8192 behind a ReLU.
  EXPECT_EQ(violation(high, {9.0e-5, 6.98e-4}), "");
}

TEST(Limits, AnUnknownReferenceErrorDoesNotRaiseThem) {
  const Sum sum{.k = 1024};
  const double strict = limit_of(Policy::kReference, {0, 0}, sum).allowed.normwise;
  EXPECT_EQ(limit_of(Policy::kReference, {NAN, INFINITY}, sum).allowed.normwise, strict);
  EXPECT_EQ(limit_of(Policy::kReference, {-1, -1}, sum).allowed.normwise, strict);
}

TEST(Limits, ViolationsSayWhich) {
  const Limit limit = limit_of(Policy::kReference, {1e-5, 1e-5}, {.k = 16});
  EXPECT_EQ(violation(limit, {1e-5, 2e-5}), "");
  EXPECT_NE(violation(limit, {2e-5, 0}).find("normwise error 2e-05 is above the limit 1.1e-05"), std::string::npos);
  EXPECT_NE(violation(limit, {0, 1}).find("elementwise"), std::string::npos);
  EXPECT_NE(violation(limit, {NAN, 0}), "");
  EXPECT_NE(violation(limit, {0, NAN}), "");
}

// What reference demands is what the default math delivers, on every kind of data where sums are long.
TEST(Limits, TheDefaultMathKeepsThem) {
  for (int64_t k : {1024, 4096, 32768}) {
    for (Data data : {Data::kRandomSign, Data::kPositive, Data::kOutlier}) {
      Sum sum{.k = k, .data = data, .promote_every = 64};
      const double limit = limit_of(Policy::kReference, {}, sum).allowed.normwise;
      EXPECT_LE(modelled_error(Math::kFP16x3, sum).total(), limit) << k;
      EXPECT_LE(modelled_error(Math::kBF16x6, sum).total(), limit) << k;
    }
  }
}

// PyTorch's TF32 error counts under `high`, unless it leaves next to nothing of the result: then any result would pass.
TEST(Policy, TF32CountsWhileItLeavesAResult) {
  Sum sum;
  sum.k = 1024;
  sum.products = 1;
  sum.elements = 1024;
  const double modelled = limit_of(Policy::kHigh, {1e-7, 1e-6}, sum).allowed.normwise;
  EXPECT_DOUBLE_EQ(limit_of(Policy::kHigh, {1e-7, 1e-6}, sum, OwnMath::kStrict, {0.01, 0.1}).allowed.normwise,
                   1.1 * 0.01);
  EXPECT_DOUBLE_EQ(limit_of(Policy::kHigh, {1e-7, 1e-6}, sum, OwnMath::kStrict, {0.9, 30}).allowed.normwise, modelled);
  EXPECT_LT(limit_of(Policy::kHigh, {1e-7, 1e-6}, sum, OwnMath::kStrict, {0.9, 30}).allowed.elementwise, 0.01);
}

}  // namespace
}  // namespace solstice::numerics
