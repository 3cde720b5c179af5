#include "evaluate/kernel_table.h"

#include <gtest/gtest.h>

#include "evaluate/build.h"

namespace solstice::evaluate {
namespace {

machine::Machine machine_of_tables() {
  return machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
}

KernelTable table_of(const std::string& text) {
  const auto out = kernel_table(text, {machine_of_tables()});
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? *out : KernelTable();
}

// Of the kernel `k` with these equations.
KernelTableRow row_of_kernel(const std::string& head, const std::string& kernel) {
  for (const KernelTableRow& row : table_of("program p\n" + head + kernel).rows) {
    if (row.kernel == "k") return row;
  }
  return {.kernel = "", .family = ""};
}

constexpr const char* kLinear =
    "dim M = 1024, K = 4096, N = 8192\ninput x : f32[M, K]\nparam w : f32[N, K]\nparam b : f32[N]\n"
    "output y : f32[M, N]\n";
constexpr const char* kRows = "dim M = 8192, N = 16384\ninput x : f32[M, N]\noutput y : f32[M, N]\n";
constexpr const char* kImages =
    "dim N = 16, C = 8, K = 64, P = 126, Q = 126\ninput x : f32[N, C, 128, 128]\nparam w : f32[K, C, 3, 3]\n"
    "output y : f32[N, K, P, Q]\n";

TEST(KernelRows, SayWhatAKernelComputes) {
  const KernelTableRow linear = row_of_kernel(
      kLinear,
      "kernel k by gemm(math=fp16x3) {\n  z[m,n] = sum[k](x[m,k] * w[n,k]) + b[n]\n  y[m,n] = gelu(z[m,n])\n}\n");
  EXPECT_EQ(linear.computes, "product 1024x8192x4096 + bias + gelu");
  EXPECT_EQ(linear.math, "fp16x3");
  EXPECT_EQ(linear.limited_by, "tensor cores");
  EXPECT_EQ(linear.missing, "");
  const KernelTableRow softmax = row_of_kernel(
      kRows, "kernel k by rows() {\n  e[m,n] = exp(x[m,n] - max[n](x[m,n]))\n  y[m,n] = e[m,n] / sum[n](e[m,n])\n}\n");
  EXPECT_EQ(softmax.computes, "softmax over rows of 16384");
  EXPECT_EQ(softmax.limited_by, "memory");
  EXPECT_EQ(row_of_kernel(kRows, "kernel k by map() {\n  y[m,n] = 2 * x[m,n] + 1\n}\n").computes, "elementwise");
  EXPECT_EQ(row_of_kernel(kRows, "kernel k by map() {\n  y[m,n] = tanh(x[m,n])\n}\n").computes, "elementwise + tanh");
  EXPECT_EQ(row_of_kernel(kRows, "kernel k by scan() {\n  y[m,n] = sum[j where j <= n](x[m,j])\n}\n").computes,
            "running sum over rows of 16384");
}

TEST(KernelRows, AConvolutionWithoutAFamilySaysSo) {
  const std::string kernel = "kernel k by map() {\n  y[n,k,p,q] = sum[c,r,s](x[n,c,p+r,q+s] * w[k,c,r,s])\n}\n";
  const KernelTableRow row = row_of_kernel(kImages, kernel);
  EXPECT_EQ(row.computes, "convolution 3x3, 8 to 64 channels");
  EXPECT_EQ(row.missing, "convolution");
  const std::vector<std::string> reasons = reasons_of(table_of("program p\n" + std::string(kImages) + kernel));
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_TRUE(reasons[0].starts_with("`k`: convolution runs as `map`: ")) << reasons[0];
}

TEST(KernelRows, AProductOutsideGemmSaysSo) {
  const std::string equation = "{\n  y[m,n] = sum[k](x[m,k] * w[n,k])\n}\n";
  const std::string head =
      "dim M = 1024, K = 512, N = 512\ninput x : f32[M, K]\nparam w : f32[N, K]\noutput y : f32[M, N]\n";
  EXPECT_EQ(row_of_kernel(head, "kernel k by map() " + equation).missing, "product");
  EXPECT_EQ(row_of_kernel(head, "kernel k by gemm() " + equation).missing, "");
  EXPECT_EQ(row_of_kernel(kRows, "kernel k by rows() {\n  y[m,n] = x[m,n] / sum[n](x[m,n])\n}\n").missing, "");
}

TEST(KernelRows, APoolingHasItsWindow) {
  const KernelTableRow row =
      row_of_kernel("dim N = 16, C = 8, P = 62, Q = 62\ninput x : f32[N, C, 126, 126]\noutput y : f32[N, C, P, Q]\n",
                    "kernel k by map() {\n  y[n,c,p,q] = max[i<3,j<3](x[n,c,2*p+i,2*q+j])\n}\n");
  EXPECT_EQ(row.computes, "max over windows of 3x3");
  EXPECT_EQ(row.missing, "");
}

TEST(KernelRows, LaunchesAreARowAndTheSumIsThePrediction) {
  const std::string text = std::string("program p\n") + kRows +
                           "tensor t : f32[M, N]\nkernel a by map() {\n  t[m,n] = x[m,n] + 1\n}\n"
                           "kernel b by map() {\n  y[m,n] = t[m,n] * t[m,n]\n}\n";
  const KernelTable table = table_of(text);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows.back().kernel, kLaunchesRow);
  EXPECT_DOUBLE_EQ(table.rows.back().predicted->value, 2 * machine_of_tables().launch_time().value);
  const Checked checked = check(text, {machine_of_tables()});
  EXPECT_NEAR(table.predicted->value, predict(*checked.program, {machine_of_tables()})->value, 1e-12);
  for (const KernelTableRow& row : table.rows) EXPECT_GE(row.over_bound, 0.99) << row.kernel;
}

// Its bytes at the rate of memory take a hundred-thousandth of that.
TEST(KernelRows, ATinyKernelIsBoundedByItsStart) {
  const KernelTableRow row = row_of_kernel("dim N = 16\ninput x : f32[N]\noutput y : f32[N]\n",
                                           "kernel k by map() {\n  y[n] = floor(x[n] * 127) / 127\n}\n");
  EXPECT_GE(row.over_bound, 1);
  EXPECT_LT(row.over_bound, 2);
}

// A launch's dynamic bytes come on top of the static ones, which ptxas tells.
TEST(SharedBytes, AreStaticAndDynamicTogether) {
  Built built;
  built.plan.modules.push_back({});
  built.plan.modules[0].name = "m";
  for (const int64_t bytes : {1000, 3000}) {
    Step step;
    step.kind = StepKind::kLaunch;
    step.module = "m";
    step.entry = "k";
    step.shared_bytes = bytes;
    built.plan.steps.push_back(step);
  }
  toolchain::KernelResources used;
  used.entry = "k";
  used.shared_bytes = 128;
  built.compiled.emplace_back().kernels = {used};
  const Json kernel = resources_of(built, 0).at(0);
  EXPECT_EQ(kernel.at("shared_bytes").as_int(), 3128);
  EXPECT_EQ(kernel.at("static_shared_bytes").as_int(), 128);
}

}  // namespace
}  // namespace solstice::evaluate
