// Elements of a product that need their row's results, inside its kernel: what is recognised, refused and emitted. What
// kernels compute is checked on a GPU (property/kernels/gemm.cpp).
#include <gtest/gtest.h>

#include "families/gemm/choice.h"
#include "families/gemm/rules.h"
#include "unit/families/gemm/gemm_programs.h"

namespace solstice::families::of_gemm {
namespace {

constexpr const char* kSoftmax = "e[m,n] = exp(h[m,n] - max[j](h[m,j]))\ny[m,n] = e[m,n] / sum[j](e[m,j])";
constexpr const char* kNorm =
    "mu[m] = mean[n](h[m,n])\ny[m,n] = (h[m,n] - mu[m]) * rsqrt(var[n](h[m,n]) + 0.00001) * b[n]";

// Behind h[m,n], a product with a bias.
ir::Program whole(const std::string& equations, const std::string& knobs = "", Sides s = {},
                  const std::string& outputs = "output y : f32[M, N]") {
  return product_program("sum[k](x[m,k] * w[n,k]) + b[n]", outputs, equations, knobs, s);
}

gemm::Settings whole_settings(const ir::Program& program) {
  return gemm::settings_of({program, h200()}, program.kernels.front(), problem_of(program));
}

Names codes_of(const ir::Program& program) {
  const Diagnostics diagnostics = diagnostics_of(program);
  Names out;
  for (const Diagnostic& d : diagnostics.all()) out.push_back(d.code);
  return out;
}

TEST(GemmWhole, ClustersHoldTheRows) {
  const ir::Program program = whole(kSoftmax, "math=fp16x3, tile=128x128", {4096, 700, 512});
  const Emission emission = emission_of(program);
  ASSERT_EQ(emission.steps.size(), 3u) << "split, product, fallback: nothing is folded behind";
  EXPECT_EQ(emission.steps[1].cluster[0], 8);
  EXPECT_EQ(emission.steps[1].grid[0] % 8, 0);
  EXPECT_EQ(emission.steps[1].grid[0], 120) << "15 clusters of 8: as many as an H200 holds";
  EXPECT_TRUE(holds(emission.sources[1].code, "kSweeps = 2, kResults = 2, kColumns = 700")) << emission.sources[1].code;
  EXPECT_TRUE(holds(emission.sources[2].code, "gemm::run_simt_rows<")) << emission.sources[2].code;
  EXPECT_EQ(emission.steps[2].arguments.back().buffer, "up-sums");
}

// A part of a GPU may have fewer SMs than the largest cluster needs beside what a GPC leaves over.
TEST(GemmWhole, SmallMachinesArePlannedFor) {
  for (const int sms : {4, 12, 16}) {
    machine::Machine small = h200();
    small.sm_count = sms;
    const ir::Program program = whole(kSoftmax, "", {1000, 2000, 256});
    const ir::Kernel& kernel = program.kernels.front();
    const families::Context context{program, small, "reference", false};
    EXPECT_GE(small.clusters_at_once(8), 1);
    const families::Family* family = families::find_family("gemm");
    const auto proposals = family->propose(context, kernel);
    EXPECT_TRUE(proposals.ok()) << proposals.error().text();
  }
}

TEST(GemmWhole, OneTileMayHoldTheRow) {
  const ir::Program program = whole(kSoftmax, "math=fp16x3, tile=64x256", {4096, 200, 512});
  EXPECT_EQ(whole_settings(program).cluster_n, 1);
  EXPECT_TRUE(codes_of(program).empty());
}

// What later sweeps need of an accumulator takes its place.
TEST(GemmWhole, AccumulatorsTurnIntoWhatIsNeeded) {
  const tensor_core::RowResident soft = *problem_of(whole(kSoftmax)).epilogue.resident;
  ASSERT_EQ(soft.sweeps.size(), 3u);
  EXPECT_FALSE(soft.sweeps[0].kept.empty()) << "x";
  EXPECT_TRUE(holds(soft.sweeps[1].element, "exponential(")) << soft.sweeps[1].element;
  EXPECT_FALSE(soft.sweeps[1].kept.empty()) << "exp(x - max)";
  EXPECT_FALSE(holds(soft.sweeps[2].element, "exponential(")) << soft.sweeps[2].element;
  const tensor_core::RowResident norm = *problem_of(whole(kNorm)).epilogue.resident;
  ASSERT_EQ(norm.sweeps.size(), 3u);
  EXPECT_FALSE(holds(norm.sweeps[1].element, "p_b[")) << "the bias is read once";
}

TEST(GemmWhole, RowResultsMayBeOutputsToo) {
  const ir::Program program = whole(kNorm, "", {}, "output y : f32[M, N]\noutput mu : f32[M]\noutput h : f32[M, N]");
  const gemm::Problem problem = problem_of(program);
  EXPECT_EQ(problem.epilogue.resident->row_writes.size(), 1u);
  EXPECT_EQ(problem.epilogue.code.stores.size(), 2u);
  EXPECT_EQ(emission_of(program).sources.size(), 3u);
}

TEST(GemmWhole, ReductionsAlongMExchangeTheOperands) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(R"(
program columns
input x : f32[128, 256]
input w : f32[384, 256]
output y : f32[384, 128]

kernel up by gemm() {
  h[m,n] = sum[k](x[m,k] * w[n,k]) for m<128, n<384
  y[n,m] = h[m,n] - max[i<128](h[i,n]) for m<128, n<384
}
)",
                                        "test.ucut", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  const gemm::Problem problem = problem_of(*program);
  ASSERT_TRUE(problem.epilogue.resident);
  EXPECT_EQ(problem.product.n, 128);
}

TEST(GemmWhole, WhatHoldsNoWholeRowIsRefused) {
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, tile=128x128, cluster=1x2")), Names{"E112"});
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, tile=128x128, cluster=2x1")), Names{"E112"});
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, tile=64x64")), Names{"E112"}) << "16 blocks";
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=simt, tile=32x32")), Names{"E111"});
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, stream=columns", {16, 700, 4096})), Names{"E117"});
}

TEST(GemmWhole, LongRowsAreLeftToFp32) {
  const ir::Program program = whole(kSoftmax, "", {64, 5000, 64});
  EXPECT_EQ(whole_settings(program).math, numerics::Math::kSimt);
  EXPECT_TRUE(holds(emission_of(program).sources.front().code, "gemm::run_simt_rows<"));
}

TEST(GemmWhole, WhatIsNotBuiltIsNamed) {
  const auto reason = [](const std::string& equations) {
    const ir::Program program = whole(equations);
    return find_family("gemm")->match(program, program.kernels.front()).reason;
  };
  const std::string prefix = reason("y[m,n] = sum[j where j <= n](h[m,j]) + h[m,n]");
  EXPECT_TRUE(holds(prefix, "has a reduction that depends on the column")) << prefix;
  const std::string some = reason("y[m,n] = h[m,n] - sum[j where j < 9](h[m,j])");
  EXPECT_TRUE(holds(some, "a reduction under a condition")) << some;
  const std::string columns = reason("y[m,n] = h[m,n] - sum[j](h[j,n])");
  EXPECT_TRUE(holds(columns, "reduced along its columns")) << columns;
}

}  // namespace
}  // namespace solstice::families::of_gemm
