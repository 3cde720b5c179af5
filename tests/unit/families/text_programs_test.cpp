// Families on programs as people write them: text, bound, generated, run on the host.
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

TEST(TextPrograms, SoftmaxOfACluster) {
  expect_text(R"(program softmax
dim M = 3, N = 4096
input  x : f32[M, N]
output y : f32[M, N]
kernel sm by rows(cluster=8, passes=1, threads=128, vector=4) {
  e[m,n] = exp(x[m,n] - max[n](x[m,n]))
  y[m,n] = e[m,n] / sum[n](e[m,n])
})");
}

TEST(TextPrograms, SumOfAClusterOfWarps) {
  expect_text(R"(program sums
dim M = 3, N = 189
input  x : f32[M, N]
output y : f32[M]
output z : i64[M]
kernel k by rows(cluster=4, threads=32) {
  y[m] = sum[n](x[m,n]) + max[n](x[m,n])
  z[m] = argmin[n](x[m,n])
})");
}

TEST(TextPrograms, GroupNormReadTwice) {
  expect_text(R"(program group_norm
dim B = 2, C = 8, G = 4, D = C//G, H = 8, W = 6
param  g  : f32[C] "gn.weight"
param  be : f32[C] "gn.bias"
input  x : f32[B, C, H, W]
output y : f32[B, C, H, W]
kernel norm by rows(passes=2, residency=l2, cluster=2, vector=4, threads=32) {
  mu[n,q] = mean[d<D,h,w](x[n,D*q+d,h,w])  for q < G
  vr[n,q] = var[d<D,h,w](x[n,D*q+d,h,w])   for q < G
  y[n,D*q+d,h,w] = (x[n,D*q+d,h,w] - mu[n,q]) * rsqrt(vr[n,q] + 1e-5) * g[D*q+d] + be[D*q+d]  for d < D
})");
}

TEST(TextPrograms, ViewsAndPieces) {
  expect_text(R"(program pieces
dim B = 3, E = 8
input  x : f32[B, 3*E]
output y : f32[B, 2*E]
kernel k by map() {
  view q[b,e] = x[b, e] for e < E
  view v[b,e] = x[b, 2*E+e] for e < E
  y[b,e] = silu(q[b,e]) * v[b,e]
  y[b,E+e] = select(q[b,e] > 0, q[b,E-1-e], tanh(v[b,e])) for e < E
})");
}

TEST(TextPrograms, SmallWindowsRunAsMap) {
  expect_text(R"(program pool
dim N = 2, C = 3, H = 9, P = (H+2-3)//2 + 1
input  x : f32[N, C, H, H]
output y : f32[N, C, P, P]
kernel k by map() {
  y[n,c,p,q] = max[i<3,j<3](x[n,c, 2*p+i-1, 2*q+j-1 else -inf])
})");
}

// Along an axis of one element the element before is always outside.
TEST(TextPrograms, LocalReadAlwaysOutside) {
  expect_text(R"(program before
dim N = 5
input  x : f32[1, N]
output y : f32[1, N]
kernel k by map() {
  t[i,j] = 2 * x[i,j]
  y[i,j] = t[i,j] + t[i-1,j else 0] / 3 + exp(t[i+1,j else 1])
})");
}

// `sqrt(2)` and the constant's own functions have no fp64 operand; rounded to fp32 they would spoil the results.
TEST(TextPrograms, GeluOfDoubles) {
  expect_text(R"(program gelu
dim N = 40
input  x : f64[N]
output y : f64[N]
kernel k by map() {
  y[i] = gelu(x[i]) + softsign(-0.5) + max(tanh(0.3), erf(0.1) + sin(1) * cos(2)) / log1p(0.7)
})",
              1e-14);
}

TEST(TextPrograms, RareFunctions) {
  expect_text(R"(program rare
dim N = 60
input  x : f64[N]
input  v : f32[N]
output y : f64[N]
output z : f32[N]
kernel k by map() {
  y[i] = atan2(x[i], 0.3) + erfinv(0.3 * tanh(x[i])) + lgamma(abs(x[i]) + 0.5)
  z[i] = atan2(v[i], -0.3) + erfinv(0.3 * tanh(v[i])) + lgamma(abs(v[i]) + 0.5)
})",
              1e-5);
}

TEST(TextPrograms, BitsAndPowersOfIntegers) {
  expect_text(R"(program bits
dim N = 60
input  k : i64[N]
input  j : i32[N]
output y : i64[N]
output z : i64[N]
output w : i32[N]
kernel b by map() {
  y[i] = bit_and(k[i] - 3, j[i]) + bit_and(-k[i], 6)
  z[i] = i64(3 ** bit_and(k[i], 31)) + i64((k[i] - 3) ** j[i])
  w[i] = bit_and(j[i], 4) + bit_and(i, 12)
})",
              0, 6);
}

TEST(TextPrograms, EmbeddingGather) {
  expect_text(R"(program embedding
dim V = 6, D = 8, T = 5
param  e : f32[V, D] "emb.weight"
input  i : i64[T]
output y : f32[T, D]
kernel k by map() {
  y[t,d] = e[i[t], d] * sqrt(D)
})",
              1e-6, 6);
}

}  // namespace
}  // namespace solstice::families
