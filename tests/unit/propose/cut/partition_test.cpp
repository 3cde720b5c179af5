#include "propose/cut/partition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

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

// A program whose step t is `step` with {0} for t and {1} for t - 1.
std::string chain(const std::string& interface, const std::string& step, int steps, const std::string& last) {
  std::string out = interface;
  for (int t = 1; t <= steps; ++t) out += fmt::format(fmt::runtime(step), t, t - 1);
  return out + fmt::format(fmt::runtime(last), steps);
}

constexpr const char* kChain = R"(
program chain
dim B = 64, C = 1024
input  x : f32[B, C]
input  a : f32[C]
output y : f32[B, C]
h0[b,c] = x[b,c]
)";

Seconds cpu_time() { return Seconds(static_cast<double>(std::clock()) / CLOCKS_PER_SEC); }

// Each step reads the one before twice: written out, the last has 2^80 parts.
TEST(Partition, StepsThatAreReadTwiceAreLookedAtOnce) {
  const auto kernels = kernels_of(
      chain(kChain, "h{0}[b,c] = h{1}[b,c] + a[c] * (x[b,c] - h{1}[b,c])\n", 80, "y[b,c] = tanh(h{0}[b,c])\n"));
  EXPECT_EQ(kernels.size(), 1u);
}

// Each stage reads two elements of the one before, each of another place: in one kernel the last of 24 stages would
// have 4^24 parts. Several kernels are cut, and that ends.
TEST(Partition, StagesThatReadOtherElementsAreNotOneKernel) {
  constexpr const char* kStage =
      "h{0}[b,n] = h{1}[b,2*n] + h{1}[b,2*n+1] for n<128\nh{0}[b,128+n] = h{1}[b,2*n] - h{1}[b,2*n+1] for n<128\n";
  std::string text = "program butterfly\ndim B = 64, N = 256\ninput x : f32[B, N]\noutput y : f32[B, N]\n";
  for (int t = 0; t <= 24; ++t) text += fmt::format("tensor h{} : f32[B, N]\n", t);
  const auto kernels = kernels_of(chain(text + "h0[b,n] = x[b,n]\n", kStage, 24, "y[b,n] = h{0}[b,n]\n"));
  EXPECT_GT(kernels.size(), 2u);
  EXPECT_LT(kernels.size(), 24u);
}

// The range of a place that is clamped again and again is found once for each step, not twice.
TEST(Partition, ClampsOfClampsAreLookedAtOnce) {
  const auto kernels = kernels_of(
      chain("program shifts\ndim B = 64, N = 256\ninput x : f32[B, N]\noutput y : f32[B, N]\nh0[b,n] = x[b,n]\n",
            "h{0}[b,n] = tanh(h{1}[b,min(max(n-1, 0), N-1)]) for n<N\n", 40, "y[b,n] = h{0}[b,n]\n"));
  EXPECT_EQ(kernels.size(), 1u);
}

// The time of a chain grows with its length, not with the square or the cube of it. Ten times what it takes.
TEST(Partition, AThousandEquationsTakeSeconds) {
  const Seconds began = cpu_time();
  const auto kernels =
      kernels_of(chain(kChain, "h{0}[b,c] = tanh(a[c] * h{1}[b,c] + x[b,c])\n", 1000, "y[b,c] = h{0}[b,c]\n"));
  EXPECT_LE(kernels.size(), 12u);
  EXPECT_LT((cpu_time() - began).value, 20);
}

TEST(Partition, AThousandEquationsWithAResultEachTakeSeconds) {
  constexpr const char* kStacked = R"(
program chain
dim B = 64, C = 1024
input  x : f32[B, C]
output y : f32[400, B, C]
h0[b,c] = x[b,c]
)";
  const Seconds began = cpu_time();
  const auto kernels =
      kernels_of(chain(kStacked, "h{0}[b,c] = tanh(0.5 * h{1}[b,c])\ny[{1},b,c] = h{0}[b,c]\n", 400, "# {0} steps\n"));
  EXPECT_LE(kernels.size(), 12u);
  EXPECT_LT((cpu_time() - began).value, 20);
}

// Stopped at once, every equation is a kernel; a cut is one at any time.
TEST(Partition, ACutThatIsStoppedRuns) {
  const std::string text = chain(kChain, "h{0}[b,c] = tanh(h{1}[b,c])\n", 8, "y[b,c] = h{0}[b,c]\n");
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "test.ucut", diagnostics);
  ASSERT_TRUE(program.ok()) << render_text(diagnostics, text, "test.ucut");
  const machine::Machine machine = some_machine();
  const auto parts = partition(*program, {machine, "reference", false, true, [] { return true; }});
  ASSERT_TRUE(parts.ok()) << parts.error().text();
  EXPECT_EQ(parts->groups.size(), 10u);
}

// The tensors without a kernel of their own kind, with the reasons.
std::vector<std::string> unserved_in(const std::string& text) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test.ucut");
  const auto machine = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml");
  EXPECT_TRUE(machine.ok());
  const auto found = unserved(*program, {*machine, "reference", false});
  EXPECT_TRUE(found.ok()) << found.error().text();
  std::vector<std::string> out;
  for (const Unserved& each : *found)
    out.push_back(program->target_of(program->equation(each.equation)).name + ": " + each.why);
  return out;
}

TEST(Unserved, NamesWhatNoFamilyRuns) {
  EXPECT_EQ(unserved_in(R"(
program deconvolution
dim B = 8, C = 16, K = 16, L = 1024, U = 2048
input  x : f32[B, C, L]
param  w : f32[C, K, 4]
output y : f32[B, K, U]
h[b,c,j] = tanh(x[b,c,j])
m[b,k,u] = sum[c,j,s<4 where u == 2*j+s-1](h[b,c,j] * w[c,k,s]) for u<U
y[b,k,u] = tanh(m[b,k,u])
)"),
            std::vector<std::string>{"m: no kernel family runs it yet"});
}

TEST(Unserved, NamesProductsThatAreAddedElementByElement) {
  EXPECT_EQ(unserved_in(R"(
program convolution
dim B = 8, C = 16, K = 16, L = 1024, R = 3, U = 1022
input  x : f32[B, C, L]
param  w : f32[K, C, R]
output y : f32[B, K, U]
y[b,k,u] = sum[c,r](x[b,c,u+r] * w[k,c,r])
)"),
            std::vector<std::string>{"y: it has no kernel family of its own yet"});
}

TEST(Unserved, ServesAProductWithItsActivation) {
  EXPECT_TRUE(unserved_in(R"(
program linear
dim M = 256, N = 256, K = 256
input  x : f32[M, K]
param  w : f32[N, K]
output y : f32[M, N]
z[m,n] = sum[k](x[m,k] * w[n,k])
y[m,n] = tanh(z[m,n])
)")
                  .empty());
}

}  // namespace
}  // namespace solstice::propose
