#include "sol/scheduled.h"

#include <gtest/gtest.h>

#include "ir/bind.h"

namespace solstice::sol {
namespace {

machine::Machine h200() {
  return machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
}

std::vector<std::vector<ResourceNeed>> needs_of(const std::string& text) {
  Diagnostics diagnostics;
  const Result<ir::Program> program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().text());
  const auto needs = needs_of_kernels(*program, h200(), {});
  EXPECT_TRUE(needs.ok()) << (needs.ok() ? "" : needs.error().text());
  return needs.ok() ? *needs : std::vector<std::vector<ResourceNeed>>();
}

const ResourceNeed* find(const std::vector<ResourceNeed>& needs, const std::string& resource) {
  for (const ResourceNeed& need : needs) {
    if (need.resource == resource) return &need;
  }
  return nullptr;
}

TEST(Scheduled, EachKernelHasItsBytesOnce) {
  const auto needs = needs_of(R"(program p
dim R = 16384, C = 4096, S = 256
input x : f32[R, C]
input v : f32[S, C]
tensor t : f32[R, C]
tensor u : f32[S, C]
output y : f32[R]
output z : f32[S]
kernel soft by rows() {
  e[r,c] = exp(x[r,c] - max[c](x[r,c]))
  t[r,c] = e[r,c] / sum[c](e[r,c])
}
kernel dots by rows() {
  y[r] = sum[c](t[r,c] * x[r,c])
}
kernel small by map() {
  u[s,c] = 2 * v[s,c]
}
kernel sums by rows() {
  z[s] = sum[c](u[s,c])
}
)");
  ASSERT_EQ(needs.size(), 4U);
  const double large = 16384.0 * 4096 * 4, little = 256.0 * 4096 * 4;
  EXPECT_DOUBLE_EQ(find(needs[0], "dram")->amount, 2 * large);  // x is swept twice, and moved once
  EXPECT_DOUBLE_EQ(find(needs[0], "dram")->time.value, 2 * large / h200().copy_ceiling().per_second);
  EXPECT_DOUBLE_EQ(find(needs[1], "dram")->amount, 2 * large + 16384 * 4);  // t does not fit into L2
  EXPECT_EQ(find(needs[1], "l2"), nullptr);
  EXPECT_DOUBLE_EQ(find(needs[2], "dram")->amount, little);
  EXPECT_DOUBLE_EQ(find(needs[2], "l2")->amount, little);  // u does
  EXPECT_DOUBLE_EQ(find(needs[3], "l2")->amount, little);
}

TEST(Scheduled, ProductsSayAtWhichMathTheyCount) {
  const auto needs = needs_of(R"(program p
dim N = 1024
input x : f32[N, N]
param w : f32[N, N] "w"
output y : f32[N, N]
kernel up by gemm(math=simt) {
  y[m,n] = sum[k](x[m,k] * w[n,k])
}
)");
  ASSERT_EQ(needs.size(), 1U);
  const ResourceNeed* product = find(needs[0], "tensor.f16");
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(product->how, "fp16x3");
  EXPECT_DOUBLE_EQ(product->amount, 2.0 * 1024 * 1024 * 1024);
}

}  // namespace
}  // namespace solstice::sol
