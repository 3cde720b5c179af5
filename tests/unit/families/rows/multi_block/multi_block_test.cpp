// Family `rows` with the knob `team`: blocks that share a row through global memory, as programs and as trees.
#include <fmt/format.h>

#include <string>

#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

using namespace ir;
using namespace solstice::testing;

// A block has several pieces of a row: all threads take each, or two groups of them take pieces in turn.
TEST(Rows, LayerNormOfATeam) {
  for (const int64_t columns : {16384, 20000, 20001}) {
    ProgramBuilder b("p");
    const int x = b.input("x", {5, columns}), g = b.input("g", {columns}), y = b.output("y", {5, columns});
    b.kernel("k", "rows");
    const auto m = b.index("m", 5), n = b.index("n", columns), i = b.bound("i", columns), j = b.bound("j", columns);
    const auto mean = make_reduce(Reducer::kMean, {i->id}, b.read(x, {m, i}));
    const auto var = make_reduce(Reducer::kVar, {j->id}, b.read(x, {m, j}));
    b.define(y, {m, n}, (b.read(x, {m, n}) - mean) * op(Op::kRsqrt, {var + num(1e-5)}) * b.read(g, {n}));
    b.program.kernels[0].knobs.set("team", KnobValue::of_int(2));
    b.program.kernels[0].knobs.set("threads", KnobValue::of_int(128));
    expect_same(b.program, 5e-6);
  }
}

// Where a row is long enough for its exchange, blocks keep their part of the weights.
TEST(Rows, ATeamHoldsItsWeights) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int64_t columns : {32768, 32765}) {
      ProgramBuilder b("p");
      const int x = b.input("x", {5, columns}), g = b.input("g", {columns}, dtype), y = b.output("y", {5, columns});
      b.kernel("k", "rows");
      const auto m = b.index("m", 5), n = b.index("n", columns), j = b.bound("j", columns);
      const auto squares = make_reduce(Reducer::kMean, {j->id}, b.read(x, {m, j}) * b.read(x, {m, j}));
      b.define(y, {m, n}, b.read(x, {m, n}) * op(Op::kRsqrt, {squares + num(1e-5)}) * b.read(g, {n}));
      b.program.kernels[0].knobs.set("team", KnobValue::of_int(2));
      b.program.kernels[0].knobs.set("threads", KnobValue::of_int(128));
      const machine::Machine machine = small_machine();
      const auto emission = find_family("rows")->generate({b.program, machine}, b.program.kernels[0]);
      ASSERT_TRUE(emission.ok()) << emission.error().text();
      EXPECT_NE(emission->sources[0].code.find("held0"), std::string::npos) << columns;
      expect_same(b.program, 5e-6);
    }
  }
}

// Rows that three blocks share: each finds its part's results around its own center, corrected for the row's.
TEST(TextPrograms, NormsOfATeam) {
  expect_text(R"(program layer_norm
dim M = 5, N = 1300
param  g : f32[N] "n.weight"
param  b : f32[N] "n.bias"
input  x : f32[M, N]
output y : f32[M, N]
output v : f32[M]
kernel k by rows(team=3, threads=128) {
  mu[m] = mean[n](x[m,n] + 10)
  vr[m] = var[n](x[m,n] + 10)
  y[m,n] = (x[m,n] + 10 - mu[m]) * rsqrt(vr[m] + 1e-5) * g[n] + b[n]
  v[m] = vr[m]
})");
  expect_text(R"(program group_norm
dim B = 2, C = 8, G = 4, D = C//G, H = 16, W = 12
param  g  : f32[C] "gn.weight"
input  x : f32[B, C, H, W]
output y : f32[B, C, H, W]
kernel k by rows(team=3, threads=128) {
  mu[n,q] = mean[d<D,h,w](x[n,D*q+d,h,w])  for q < G
  vr[n,q] = var[d<D,h,w](x[n,D*q+d,h,w])   for q < G
  y[n,D*q+d,h,w] = (x[n,D*q+d,h,w] - mu[n,q]) * rsqrt(vr[n,q] + 1e-5) * g[D*q+d]  for d < D
})");
  expect_text(R"(program rms
dim M = 4, N = 999
input  x : f32[M, N]
output y : f32[M, N]
kernel k by rows(team=2, threads=128) {
  y[m,n] = x[m,n] * rsqrt(mean[j](x[m,j] * x[m,j]) + 1e-5)
})");
}

// Channels whose elements are runs of memory, one an image: each piece lies in one run. The first image differs from
// the others, so that no thread's first elements are like its part.
TEST(TextPrograms, BatchNormOfATeam) {
  for (const char* extents :
       {"B = 3, C = 4, H = 40, W = 32", "B = 5, C = 3, H = 43, W = 29", "B = 2, C = 3, H = 150, W = 128"}) {
    std::string text = R"(program batch_norm
dim EXTENTS
param  g : f32[C] "bn.weight"
param  rm : f32[C] "bn.mean"
input x : f32[B, C, H, W]
output y : f32[B, C, H, W]
output v : f32[C]
output rm_new : f32[C]
kernel k by rows(team=3, threads=128) {
  z[b,c,h,w] = x[b,c,h,w] + select(b == 0, 100, 3)
  mu[c] = mean[b,h,w](z[b,c,h,w])
  vr[c] = var[b,h,w](z[b,c,h,w])
  y[b,c,h,w] = (z[b,c,h,w] - mu[c]) * rsqrt(vr[c] + 1e-5) * g[c]
  v[c] = vr[c]
  rm_new[c] = 0.9 * rm[c] + 0.1 * mu[c]
})";
    expect_text(text.replace(text.find("EXTENTS"), 7, extents).c_str());
  }
}

// Softmax over two axes between which rows of others lie; weights along the row and a run.
TEST(TextPrograms, SoftmaxOfRunsOfATeam) {
  for (const char* extent : {"1200", "1203", "9001"}) {
    std::string text = R"(program runs
dim A = 3, R = 4, N = EXTENT
param  g : f32[A, N] "g"
param  s : f32[A] "s"
input  x : f32[A, R, N]
output y : f32[A, R, N]
kernel k by rows(team=2, threads=64) {
  e[a,r,n] = exp(x[a,r,n] - max[b,j](x[b,r,j]))
  y[a,r,n] = e[a,r,n] / sum[b,j](e[b,r,j]) * g[a,n] + s[a]
})";
    expect_text(text.replace(text.find("EXTENT"), 6, extent).c_str());
  }
}

// Rows that begin between aligned vectors: the first and the last vector of each are taken apart; weights begin with
// the row. z begins as x does, or otherwise.
TEST(TextPrograms, OddRowsOfATeam) {
  const auto norm = [](const char* extents, const char* data, const char* weights) {
    return fmt::format(R"(program odd
dim M = 7, {0}
param  g : {2}[N] "n.weight"
param  b : {2}[N] "n.bias"
input  x : {1}[M, N]
input  z : {1}[M, L]
output y : f32[M, N]
output v : f32[M]
kernel k by rows(team=3, threads=64) {{
  s[m,n] = x[m,n] + z[m,n+4]
  mu[m] = mean[n](s[m,n])
  vr[m] = var[n](s[m,n])
  y[m,n] = (s[m,n] - mu[m]) * rsqrt(vr[m] + 1e-5) * g[n] + b[n]
  v[m] = vr[m]
}})",
                       extents, data, weights);
  };
  for (const char* extents : {"N = 4099, L = 4103", "N = 4097, L = 4102", "N = 9002, L = 9010"}) {
    expect_text(norm(extents, "f32", "f32").c_str());
    expect_text(norm(extents, "f64", "f32").c_str());
    expect_text(norm(extents, "bf16", "f32").c_str(), 1e-2);
    expect_text(norm(extents, "f32", "bf16").c_str(), 1e-2);
  }
  std::string half = norm("N = 4099, L = 4107", "bf16", "bf16");
  expect_text(half.replace(half.find("y : f32"), 7, "y : bf16").c_str(), 1e-2);
}

// Nothing is stored along the row: pieces are let go as they arrive.
TEST(TextPrograms, StatisticsOfATeam) {
  for (const char* n : {"4096", "40001"}) {
    expect_text(fmt::format(R"(program statistics
dim M = 9, N = {}
input  x : f32[M, N]
output u : f32[M]
output v : f32[M]
kernel k by rows(team=2, threads=64) {{
  u[m] = mean[n](x[m,n])
  v[m] = var[n](x[m,n])
}})",
                            n)
                    .c_str());
  }
}

TEST(TextPrograms, LossOfATeam) {
  expect_text(R"(program loss
dim M = 6, N = 2001
input  x : f32[M, N]
input  t : i32[M]
output y : f32[M, N]
output l : f32[M]
output z : f32[M]
kernel k by rows(team=3, threads=128) {
  s[m] = logsumexp[n](x[m,n])
  y[m,n] = x[m,n] - s[m]
  l[m] = s[m] - x[m,0]
  z[m] = sum[n](exp(x[m,n] - max[j](x[m,j])) * x[m,n])
})");
}

}  // namespace
}  // namespace solstice::families
