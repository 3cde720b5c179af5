// Elements of a product that need their row's results, inside its kernel: what is recognised, refused and emitted. What kernels
// compute is checked on a GPU (property/kernels/gemm.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "families/gemm/cost.h"
#include "families/gemm/lean.h"
#include "families/gemm/problem.h"
#include "ir/bind.h"
#include "machine/machine.h"
#include "unit/families/h200.h"

namespace solstice::families {
namespace {

constexpr const char* kSoftmax = "e[m,n] = exp(h[m,n] - max[j](h[m,j]))\ny[m,n] = e[m,n] / sum[j](e[m,j])";
constexpr const char* kNorm = "mu[m] = mean[n](h[m,n])\ny[m,n] = (h[m,n] - mu[m]) * rsqrt(var[n](h[m,n]) + 0.00001) * b[n]";

struct Extents {
  int m = 1000, n = 700, k = 256;
};

// A kernel of these equations behind h[m,n], a product with a bias.
ir::Program whole(const std::string& equations, const std::string& knobs = "", Extents s = {},
                  const std::string& outputs = "output y : f32[M, N]") {
  Diagnostics diagnostics;
  const std::string head =
      fmt::format("program rows\ndim M = {}, N = {}, K = {}\ninput x : f32[M, K]\nparam w : f32[N, K]\nparam b : f32[N]\n", s.m, s.n, s.k);
  auto program = ir::load_program(
      head + outputs + "\nkernel up by gemm(" + knobs + ") {\nh[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]\n" + equations + "\n}\n", "test.ucut",
      diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? *std::move(program) : ir::Program{};
}

gemm::Problem whole_problem(const ir::Program& program) {
  auto problem = gemm::make_problem(program, program.kernels.front());
  EXPECT_TRUE(problem.ok()) << problem.error().text();
  return problem.ok() ? *std::move(problem) : gemm::Problem{};
}

gemm::Settings whole_settings(const ir::Program& program) {
  return gemm::settings_of({program, h200()}, program.kernels.front(), whole_problem(program));
}

Emission whole_emission(const ir::Program& program) {
  auto emission = find_family("gemm")->generate({program, h200()}, program.kernels.front());
  EXPECT_TRUE(emission.ok()) << emission.error().text();
  return emission.ok() ? *std::move(emission) : Emission{};
}

std::vector<std::string> codes_of(const ir::Program& program) {
  Diagnostics diagnostics;
  find_family("gemm")->check({program, h200()}, program.kernels.front(), diagnostics);
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics.all()) out.push_back(d.code);
  return out;
}

using Codes = std::vector<std::string>;
bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(GemmWhole, ClustersHoldTheRows) {
  const ir::Program program = whole(kSoftmax, "math=fp16x3, tile=128x128", {4096, 700, 512});
  const Emission emission = whole_emission(program);
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
    EXPECT_GE(gemm::clusters_at_once(small, 8), 1);
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
  const gemm::WholeRows soft = *whole_problem(whole(kSoftmax)).whole;
  ASSERT_EQ(soft.sweeps.size(), 3u);
  EXPECT_FALSE(soft.sweeps[0].kept.empty()) << "x";
  EXPECT_TRUE(holds(soft.sweeps[1].element, "exponential(")) << soft.sweeps[1].element;
  EXPECT_FALSE(soft.sweeps[1].kept.empty()) << "exp(x - max)";
  EXPECT_FALSE(holds(soft.sweeps[2].element, "exponential(")) << soft.sweeps[2].element;
  const gemm::WholeRows norm = *whole_problem(whole(kNorm)).whole;
  ASSERT_EQ(norm.sweeps.size(), 3u);
  EXPECT_FALSE(holds(norm.sweeps[1].element, "p_b[")) << "the bias is read once";
}

TEST(GemmWhole, RowResultsMayBeOutputsToo) {
  const ir::Program program = whole(kNorm, "", {}, "output y : f32[M, N]\noutput mu : f32[M]\noutput h : f32[M, N]");
  const gemm::Problem problem = whole_problem(program);
  EXPECT_EQ(problem.whole->row_writes.size(), 1u);
  EXPECT_EQ(problem.epilogue.stores.size(), 2u);
  EXPECT_EQ(whole_emission(program).sources.size(), 3u);
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
  const gemm::Problem problem = whole_problem(*program);
  ASSERT_TRUE(problem.whole);
  EXPECT_EQ(problem.product.n, 128);
}

TEST(GemmWhole, WhatHoldsNoWholeRowIsRefused) {
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, tile=128x128, cluster=1x2")), Codes{"E112"});
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, tile=128x128, cluster=2x1")), Codes{"E112"});
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, tile=64x64")), Codes{"E112"}) << "16 blocks";
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=simt, tile=32x32")), Codes{"E111"});
  EXPECT_EQ(codes_of(whole(kSoftmax, "math=fp16x3, stream=columns", {16, 700, 4096})), Codes{"E117"});
}

TEST(GemmWhole, LongRowsAreLeftToFp32) {
  const ir::Program program = whole(kSoftmax, "", {64, 5000, 64});
  EXPECT_EQ(whole_settings(program).math, numerics::Math::kSimt);
  EXPECT_TRUE(holds(whole_emission(program).sources.front().code, "gemm::run_simt_rows<"));
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
}  // namespace solstice::families
