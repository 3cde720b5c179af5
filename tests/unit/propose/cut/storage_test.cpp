#include "propose/cut/storage.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ir/bind.h"

namespace solstice::propose {
namespace {

std::map<std::string, DType> formats_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test.ucut");
  if (!program.ok()) return {};
  std::map<std::string, DType> out;
  const std::vector<DType> formats = storage_formats(*program);
  for (size_t t = 0; t < formats.size(); ++t) out[program->tensors[t].name] = formats[t];
  return out;
}

// What lies between two products of bf16 is bf16, as PyTorch's is; or the second would be one of f32.
TEST(Storage, AnIntermediateHasTheFormatOfItsOperands) {
  const auto formats = formats_of(R"(
program mlp
dim M = 64, N = 64, K = 64
input  x : bf16[M, K]
param  w : bf16[N, K]
param  v : bf16[K, N]
output y : bf16[M, K]
h[m,n] = gelu(sum[k](x[m,k] * w[n,k]))
y[m,k] = sum[n](h[m,n] * v[k,n])
)");
  EXPECT_EQ(formats.at("h"), DType::kBF16);
}

TEST(Storage, StatisticsAreOfF32AndDoNotWidenWhatReadsThem) {
  const auto formats = formats_of(R"(
program norm
dim M = 64, N = 64
input  x : f16[M, N]
param  g : f16[N]
output y : f16[M, N]
mu[m] = mean[n](x[m,n])
rstd[m] = rsqrt(var[n](x[m,n]) + 1e-5)
h[m,n] = (x[m,n] - mu[m]) * rstd[m]
y[m,n] = h[m,n] * g[n]
)");
  EXPECT_EQ(formats.at("mu"), DType::kF32);
  EXPECT_EQ(formats.at("rstd"), DType::kF32);
  EXPECT_EQ(formats.at("h"), DType::kF16);
}

TEST(Storage, MixedAndNarrowerFormatsAndCastsWiden) {
  const auto formats = formats_of(R"(
program mixed
dim M = 64, N = 64, K = 64
input  a : e4m3[M, K]
input  b : e4m3[N, K]
input  x : bf16[M, N]
input  z : f32[M, N]
input  d : f64[M, N]
output y : f64[M, N]
p[m,n] = sum[k](a[m,k] * b[n,k])
q[m,n] = x[m,n] + z[m,n]
r[m,n] = f32(x[m,n] * 2) + 1
y[m,n] = p[m,n] + q[m,n] + r[m,n] + d[m,n]
)");
  EXPECT_EQ(formats.at("p"), DType::kF32);
  EXPECT_EQ(formats.at("q"), DType::kF32);
  EXPECT_EQ(formats.at("r"), DType::kF32);
}

TEST(Storage, IntegersAndBooleansHaveTheirOwn) {
  const auto formats = formats_of(R"(
program places
dim M = 64, N = 64
input  x : bf16[M, N]
output y : f32[M]
i[m] = argmax[n](x[m,n])
c[m,n] = x[m,n] < 0
y[m] = sum[n where c[m,n]](x[m,n]) + i[m]
)");
  EXPECT_EQ(formats.at("i"), DType::kI64);
  EXPECT_EQ(formats.at("c"), DType::kBool);
}

}  // namespace
}  // namespace solstice::propose
