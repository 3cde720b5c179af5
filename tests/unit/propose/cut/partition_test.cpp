#include "propose/cut/partition.h"

#include <gtest/gtest.h>

#include "ir/bind.h"

namespace solstice::propose {
namespace {

machine::Machine some_machine() {
  machine::Machine m;
  m.name = "test";
  m.sm_count = 132;
  m.max_clock = Hertz(1.7e9);
  m.dram_rate = BytesPerSecond(4e12);
  m.shared_per_block = Bytes(227 * 1024);
  return m;
}

// The tensors that each kernel defines.
std::vector<std::vector<std::string>> kernels_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test.ucut");
  if (!program.ok()) return {};
  const machine::Machine machine = some_machine();
  const auto parts = partition(*program, {machine, "reference", false});
  EXPECT_TRUE(parts.ok()) << parts.error().text();
  std::vector<std::vector<std::string>> out;
  if (!parts.ok()) return out;
  for (const Group& group : parts->groups) {
    out.emplace_back();
    for (const int e : group.equations) out.back().push_back(program->target_of(program->equation(e)).name);
  }
  return out;
}

// Neither reads the other, but both read x: one kernel reads it twice instead of two kernels three times.
TEST(Partition, AMeanAndAVarianceOfTheSameDataAreOneKernel) {
  const auto kernels = kernels_of(R"(
program statistics
dim M = 1048576, N = 64
input  x : f32[N, M]
output mu : f32[N]
output vr : f32[N]

mu[n] = mean[m](x[n,m])
vr[n] = var[m](x[n,m])
)");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0], (std::vector<std::string>{"mu", "vr"}));
}

TEST(Partition, KernelsOfOtherDataStayApart) {
  const auto kernels = kernels_of(R"(
program two
dim M = 4096, N = 4096
input  x : f32[N, M]
input  z : f32[N, M]
output a : f32[N]
output b : f32[N]

a[n] = sum[m](x[n,m])
b[n] = sum[m](z[n,m])
)");
  EXPECT_EQ(kernels.size(), 2u);
}

// Both products read x: one kernel reads it once, and writes neither.
TEST(Partition, AGatedActivationIsOneKernel) {
  const auto kernels = kernels_of(R"(
program gate
dim M = 4096, N = 4096, K = 4096
input  x : bf16[M, K]
input  w : bf16[N, K]
input  v : bf16[N, K]
output y : bf16[M, N]

g[m,n] = sum[k](x[m,k] * w[n,k])
u[m,n] = sum[k](x[m,k] * v[n,k])
y[m,n] = silu(g[m,n]) * u[m,n]
)");
  ASSERT_EQ(kernels.size(), 1u);
}

// What is reduced along the rows of a product is found where the product is.
TEST(Partition, AReductionOfAProductsRowsIsPartOfItsKernel) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(R"(
program reduced
input x : f32[1024, 8192]
param w : f32[8192, 8192]
output y : f32[1024]

h[m,n] = gelu(sum[k](x[m,k] * w[n,k]))
q[m] = logsumexp[n](h[m,n])
y[m] = max(q[m], q[m] * 0.01)
)",
                                        "test.ucut", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  const machine::Machine h200 = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml").value();
  for (const char* numerics : {"reference", "high", "medium"}) {
    const auto parts = partition(*program, {h200, numerics, false});
    ASSERT_TRUE(parts.ok()) << parts.error().text();
    ASSERT_EQ(parts->groups.size(), 1u) << numerics;
    EXPECT_EQ(parts->groups.front().family->name, "gemm");
  }
}

}  // namespace
}  // namespace solstice::propose
