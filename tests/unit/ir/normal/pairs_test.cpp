// Pairs of programs that must have one normal form.
#include "unit/ir/pairs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace solstice::ir {
namespace {

const Pair kPairEqual[] = {
    {"products of half precision", kPairFormats, "y[n] = sum[k](x[n,k]*w[n,k])",
     "y[n] = sum[k](f32(x[n,k])*f32(w[n,k]))"},
    {"a cast to the input's own format", kPairFormats, "y[n] = sum[k](x[n,k] + s[n,k])",
     "y[n] = sum[k](bf16(x[n,k]) + f32(s[n,k]))"},
    {"a cast to a wider format, through a local", kPairFormats, "y[n] = sum[k](h[n,k]*e[n,k])",
     "a[n,k] = f32(h[n,k])\nb[n,k] = f16(e[n,k])\ny[n] = sum[k](f64(a[n,k])*f32(b[n,k]))"},
    {"a cast of what is chosen or clamped", kPairFormats, "y[n] = sum[k](relu(x[n,k]) + select(k < 3, -w[n,k], 0))",
     "y[n] = sum[k](f32(relu(x[n,k])) + f32(select(k < 3, -w[n,k], 0)))"},
    {"a cast of padding and of an extremum", kPairFormats, "y[n] = max[k](x[n,k]) + sum[k<K](w[n,k-1 else 0])",
     "y[n] = f32(max[k](x[n,k])) + sum[k<K](f32(w[n,k-1 else 0]))"},
    {"a cast after a cast", kPairFormats, "y[n] = sum[k](bf16(s[n,k]))", "y[n] = sum[k](f32(bf16(bf16(s[n,k]))))"},
    {"a cast of small integers", kPairFormats, "y[n] = sum[k](i[n,k]*(k/2))", "y[n] = sum[k](bf16(i[n,k])*(f32(k)/2))"},
    {"operands and binders renamed", kPairMatrix, "y[m,n] = sum[k](x[m,k]*w[n,k]) + b[n]",
     "y[i,j] = b[j] + sum[c](w[j,c]*x[i,c])"},
    {"a scalar inside or before the sum", kPairMatrix, "y[m,n] = sum[k](2*x[m,k]*w[n,k])",
     "y[m,n] = 2*sum[k](x[m,k]*w[n,k])"},
    {"a divisor inside the sum", kPairMatrix, "y[m,n] = sum[k](x[m,k]/4*w[n,k])",
     "y[m,n] = 0.25*sum[k](x[m,k]*w[n,k])"},
    {"numbers by their decimals", kPairRow, "y[m,n] = x[m,n]*0.1*3 + z[m,n]*1.5e3",
     "y[m,n] = 0.3*x[m,n] + 1500*z[m,n]"},
    {"an operand scaled first", kPairMatrix, "s[m,k] = x[m,k]*3\ny[m,n] = sum[k](s[m,k]*w[n,k])",
     "y[m,n] = sum[k](x[m,k]*w[n,k])*3"},
    {"sums distribute", kPairMatrix, "y[m,n] = sum[k](x[m,k]*(w[n,k]+1))",
     "y[m,n] = sum[k](x[m,k]*w[n,k]) + sum[k](x[m,k])"},
    {"a constant summed", kPairMatrix, "y[m,n] = sum[k](x[m,k] + b[n])", "y[m,n] = sum[k](x[m,k]) + K*b[n]"},
    {"nested sums",
     "dim M = 8, N = 9, K = 10\ninput x : f32[M,K]\nparam w : f32[N,K]\nparam b : f32[N]\noutput y : f32[M]",
     "l[m,n] = sum[k](x[m,k]*w[n,k]) + b[n]\ny[m] = sum[n](l[m,n])",
     "c[k] = sum[n](w[n,k])\ny[m] = sum[k](x[m,k]*c[k]) + sum[n](b[n])"},
    {"a product of sums of separate indices", "dim M = 8, N = 9\ninput x : f32[M]\ninput z : f32[N]\noutput y : f32[]",
     "y[] = sum[m,n](x[m]*z[n])", "y[] = sum[m](x[m])*sum[n](z[n])"},
    {"the binomial", kPairRow, "y[m,n] = (x[m,n]+z[m,n])**2", "y[m,n] = x[m,n]**2 + 2*x[m,n]*z[m,n] + z[m,n]*z[m,n]"},
    {"differences reversed", kPairRow, "y[m,n] = (x[m,n]-z[m,n])**2", "y[m,n] = (z[m,n]-x[m,n])**2"},
    {"softmax shifted or not", kPairRow, "e[m,n] = exp(x[m,n]-max[n](x[m,n]))\ny[m,n] = e[m,n]/sum[n](e[m,n])",
     "y[m,n] = exp(x[m,n])/sum[n](exp(x[m,n]))"},
    {"softmax shifted by another row value", kPairRow,
     "e[m,n] = exp(x[m,n]-min[n](x[m,n]))\ny[m,n] = e[m,n]/sum[n](e[m,n])",
     "e[m,n] = exp(x[m,n]-max[n](x[m,n]))\ny[m,n] = e[m,n]/sum[n](e[m,n])"},
    {"log_softmax", kPairRow, "y[m,n] = x[m,n]-logsumexp[n](x[m,n])",
     "t[m,n] = x[m,n]-max[n](x[m,n])\ny[m,n] = t[m,n]-log(sum[n](exp(t[m,n])))"},
    {"logsumexp spelled out", kPairReduced, "y[m] = logsumexp[n](x[m,n])",
     "c[m] = max[n](x[m,n])\ny[m] = c[m]+log(sum[n](exp(x[m,n]-c[m])))"},
    {"mean and sum by count", kPairReduced, "y[m] = mean[n](x[m,n])", "y[m] = sum[n](x[m,n])/N"},
    {"mean of parts", kPairReduced, "y[m] = mean[n](x[m,n]+z[m,n])", "y[m] = mean[n](x[m,n])+mean[n](z[m,n])"},
    {"var and its definition", kPairReduced, "y[m] = var[n](x[m,n])",
     "u[m] = mean[n](x[m,n])\ny[m] = mean[n]((x[m,n]-u[m])**2)"},
    {"var and the difference of moments", kPairReduced, "y[m] = var[n](x[m,n])",
     "y[m] = mean[n](x[m,n]**2)-mean[n](x[m,n])**2"},
    {"layer norm", kPairRow, "y[m,n] = (x[m,n]-mean[n](x[m,n]))/sqrt(var[n](x[m,n])+1e-5)",
     "u[m] = sum[n](x[m,n])/N\ny[m,n] = (x[m,n]-u[m])*rsqrt(sum[n]((x[m,n]-u[m])**2)/N+1e-5)"},
    {"sqrt of a product with a number", kPairRow, "y[m,n] = x[m,n]/sqrt(4*exp(z[m,n]))",
     "y[m,n] = x[m,n]*rsqrt(exp(z[m,n]))/2"},
    {"a bias cancelled by a normalisation", kPairRow, "t[m,n] = x[m,n]+sum[n](z[m,n])\ny[m,n] = t[m,n]-mean[n](t[m,n])",
     "y[m,n] = x[m,n]-mean[n](x[m,n])"},
    {"sigmoid in two spellings", kPairRow, "y[m,n] = sigmoid(x[m,n])", "y[m,n] = exp(x[m,n])/(1+exp(x[m,n]))"},
    {"a maximum of shifted and scaled values", kPairReduced, "y[m] = max[n](2*x[m,n]+sum[j](z[m,j]))",
     "y[m] = sum[n](z[m,n])+2*max[n](x[m,n])"},
    {"a clamp out of a maximum", kPairReduced, "y[m] = max[n](relu(min(2*x[m,n], z[m,0])))",
     "y[m] = max(min(2*max[n](x[m,n]), z[m,0]), 0)"},
    {"a maximum of maxima", kPairReduced, "y[m] = max[n](max(x[m,n], z[m,n]))",
     "y[m] = max(max[j](z[m,j]), max[n](x[m,n]))"},
    {"a leaky relu out of a maximum", kPairReduced, "y[m] = max[n](leaky_relu(x[m,n], 0.2))",
     "a[m] = max[n](x[m,n])\ny[m] = select(a[m] > 0, a[m], 0.2*a[m])"},
    {"exponentials out of extrema", kPairReduced, "y[m] = max[n](exp(2*x[m,n] - z[m,n]))",
     "y[m] = exp(max[n](2*x[m,n] - z[m,n]))"},
    {"a reciprocal out of a maximum", kPairReduced, "y[m] = max[n](1/(1 + exp(x[m,n])))",
     "y[m] = 1/(1 + exp(min[n](x[m,n])))"},
    {"a tanh out of a maximum", kPairReduced, "y[m] = max[n](-3*tanh(x[m,n]))", "y[m] = -3*tanh(min[n](x[m,n]))"},
    {"a root of a variance is finite", kPairReduced,
     "v[m] = var[n](x[m,n]) + 1\ns[m,n] = rsqrt(v[m])*z[m,n] for n<N\ny[m] = max[n](select(s[m,n] > 0, s[m,n], 0))",
     "v[m] = var[n](x[m,n]) + 1\ns[m,n] = rsqrt(v[m])*z[m,n] for n<N\ny[m] = max(max[n](s[m,n]), 0)"},
    {"clamps, one after another", kPairRow, "a[m,n] = clamp(x[m,n], 0, 1)*2\ny[m,n] = clamp(a[m,n], 0, 1)/2",
     "y[m,n] = min(max(x[m,n], 0), 0.5)"},
    {"a clamp from above that is the lower one too", kPairRow, "y[m,n] = max(min(x[m,n], 1), 3)",
     "y[m,n] = 3 + 0*z[m,n]"},
    {"a clamp of what is negative", kPairRow, "y[m,n] = max(-3*x[m,n], 6)", "y[m,n] = -3*min(x[m,n], -2)"},
    {"a minimum as a maximum", kPairReduced, "y[m] = min[n](x[m,n])", "y[m] = -max[n](-x[m,n])"},
    {"maxima nested", "dim M = 8, N = 9, K = 10\ninput x : f32[M,N,K]\noutput y : f32[M]",
     "t[m,n] = max[k](x[m,n,k])\ny[m] = max[n](t[m,n])", "y[m] = max[k,n](x[m,n,k])"},
    {"relu as select", kPairRow, "y[m,n] = relu(x[m,n]-z[m,n])", "y[m,n] = select(x[m,n] > z[m,n], x[m,n]-z[m,n], 0)"},
    {"select as a sum of guards", kPairRow, "y[m,n] = select(x[m,n] > 1, z[m,n], 2*x[m,n])",
     "y[m,n] = select(x[m,n] <= 1, 2*x[m,n], z[m,n])"},
    {"a convolution by `where`", kPairConv, "y[b,k,p] = sum[c,r](x[b,c,p+r-1 else 0]*w[k,c,r])",
     "y[b,k,p] = sum[c,u,r where u == p+r-1](x[b,c,u]*w[k,c,r])"},
    {"a convolution with its padding as a domain", kPairConv, "y[b,k,p] = sum[c,r](x[b,c,p+r-1 else 0]*w[k,c,r])",
     "y[b,k,p] = sum[c,r where 0 <= p+r-1 and p+r-1 < H](w[k,c,r]*x[b,c,p+r-1])"},
    {"a convolution of a padded copy", kPairConv, "y[b,k,p] = sum[c,r](x[b,c,p+r-1 else 0]*w[k,c,r])",
     "a[b,c,h] = x[b,c,h-1 else 0] for h < H+2\ny[b,k,p] = sum[c,r](a[b,c,p+r]*w[k,c,r])"},
    {"a convolution of a copy padded piece by piece", kPairConv, "y[b,k,p] = sum[c,r](x[b,c,p+r-1 else 0]*w[k,c,r])",
     "tensor a : f32[B, C, H+2]\na[b,c,0] = 0\na[b,c,h+1] = x[b,c,h]\na[b,c,H+1] = 0\ny[b,k,p] = "
     "sum[c,r](a[b,c,p+r]*w[k,c,r])"},
    {"a convolution tap by tap", kPairConv, "y[b,k,p] = sum[c,r](x[b,c,p+r-1 else 0]*w[k,c,r])",
     "y[b,k,p] = sum[r,c](select(r+p >= 1 and r+p < H+1, x[b,c,p+r-1 else 7], 0)*w[k,c,r])"},
    {"a transposed convolution split by parity", kPairTransposed,
     "y[b,k,u] = sum[c,i,r where u == 2*i+r](x[b,c,i]*w[c,k,r]) for u < 2*H",
     "y[b,k,2*p] = sum[c,s<2](x[b,c,p-s else 0]*w[c,k,2*s]) for p < H\ny[b,k,2*p+1] = sum[c](x[b,c,p]*w[c,k,1]) for p "
     "< H"},
    {"window average", "dim H = 20\ninput x : f32[H]\noutput y : f32[H]", "y[p] = sum[i<3](x[p+i-1 else 0])/3",
     "y[p] = sum[i<3 where 0 <= p+i-1 and p+i-1 < H](x[p+i-1]/3)"},
    {"max pooling with its padding as a domain", "dim H = 20\ninput x : f32[H]\noutput y : f32[H]",
     "y[p] = max[i<3](x[p+i-1 else -inf])", "y[p] = max[i<3 where p+i >= 1 and p+i <= H](x[p+i-1])"},
    {"a masked maximum", kPairReduced, "y[m] = max[n](select(n <= m, x[m,n], -inf))",
     "y[m] = max[n where n <= m](x[m,n])"},
    {"causal attention by mask or domain", kPairScores,
     "s[i,j] = sum[d](q[i,d]*k[j,d])\np[i,j] = exp(s[i,j]-max[j where j <= i](s[i,j]))\n"
     "o[i,d] = sum[j where j <= i](p[i,j]*v[j,d])/sum[j where j <= i](p[i,j])",
     "s[i,j] = select(j <= i, sum[d](q[i,d]*k[j,d]), -inf)\np[i,j] = exp(s[i,j]-max[j](s[i,j]))\n"
     "o[i,d] = sum[j](p[i,j]/sum[u](p[i,u])*v[j,d])"},
    {"scores scaled on either side", kPairScores, "o[i,e] = sum[j](exp(sum[d](q[i,d]*k[j,d])/sqrt(64))*v[j,e])",
     "o[i,e] = sum[j](exp(sum[d](q[i,d]/8*k[j,d]))*v[j,e])"},
    {"a group's channel by digits", kPairShape, "u[g] = sum[d<D,h](x[D*g+d,h]) for g < G\ny[c,h] = x[c,h]-u[c//D]",
     "tensor u : f32[G]\nu[g] = sum[h,d<D](x[D*g+d,h])\ny[D*g+d,h] = x[D*g+d,h]-u[g] for g < G, d < D"},
    {"a reshape summed", kPairShape,
     "tensor t : f32[G, D, H]\nt[g,d,h] = x[D*g+d,h]\ns[g] = sum[d,h](t[g,d,h])\ny[c,h] = s[c//D]",
     "s[g] = sum[f<D*H](x[D*g+f//H,f%H]) for g < G\ny[c,h] = s[c//D]"},
    {"a copy by pieces", kPairShape, "y[c,h] = 2*x[c,h]",
     "y[0,h] = 2*x[0,h]\ny[c+1,h] = x[c+1,h]+x[c+1,h] for c < C-1"},
    {"a concatenation read back", "dim A = 5, B = 7\ninput a : f32[A]\ninput b : f32[B]\noutput y : f32[]",
     "tensor t : f32[A+B]\nt[i] = a[i]\nt[A+i] = b[i]\ny[] = sum[i](t[i])", "y[] = sum[i](a[i])+sum[i](b[i])"},
    {"a product with a concatenation",
     "dim A = 5, B = 7\ninput a : f32[A]\ninput b : f32[B]\nparam w : f32[A+B]\noutput y : f32[]",
     "tensor t : f32[A+B]\nt[i] = a[i]\nt[A+i] = b[i]\ny[] = sum[i](t[i]*w[i])",
     "y[] = sum[i<A](a[i]*w[i])+sum[j](b[j]*w[A+j])"},
    {"a prefix sum and a recurrence", "dim M = 4, N = 9\ninput x : f32[M,N]\noutput y : f32[M,N]",
     "y[m,n] = sum[j where j <= n](x[m,j])", "y[m,n] = y[m,n-1 else 0]+x[m,n]"},
    {"an empty domain", kPairReduced, "y[m] = sum[n where n > N](x[m,n])", "y[m] = 0"},
    {"a quotient out of a `where` that has a point", kPairReduced, "y[m] = sum[n where n <= m](x[m,n]/z[m,0])",
     "y[m] = sum[n where n <= m](x[m,n])/z[m,0]"},
    {"a domain by its bounds", kPairReduced, "y[m] = sum[n where n < 10](x[m,n])", "y[m] = sum[n<10](x[m,n])"},
    {"a gather through a local", kPairGather, "y[j] = select(m[j] and i[j] >= 0, x[i[j]], 0)",
     "r[j] = i[j]\ny[j] = select(r[j] >= 0 and m[j], x[r[j]], 0)"},
    {"a guarded gather of one computed everywhere", kPairGather, "t[j] = x[i[j]]\ny[j] = select(m[j], t[j], 0)",
     "y[j] = select(m[j], x[i[j]], 0)"},
    {"a gather in pieces", kPairGather, "y[j] = x[i[j]]", "y[j] = x[i[j]] for j < 3\ny[j+3] = x[i[j+3]] for j < J-3"},
    {"a gather that cannot miss", kPairGather, "y[j] = select(m[j], z[j,argmax[r](z[j,r])], 0)",
     "t[j] = z[j,argmax[r](z[j,r])]\ny[j] = select(m[j], t[j], 0)"},
    {"a gather below a `where`", kPairGather, "y[k] = sum[j where m[j]](x[i[j]]*z[k,j])",
     "y[k] = sum[j where m[j]](z[k,j]*select(m[j], x[i[j]], 1))"},
    {"a sum with a recurrence of finite steps", kPairRow, "t[m,n] = tanh(t[m,n-1 else 0]+x[m,n])\ny[m,n] = z[m,n]",
     "t[m,n] = tanh(t[m,n-1 else 0]+x[m,n])\ny[m,n] = z[m,n]+t[m,n]-t[m,n]"},
    {"a sum with a tensor whose pieces read each other", kPairReduced,
     "tensor t : f32[M]\nt[0] = x[0,0]\nt[1] = exp(t[0])\nt[m+2] = x[m,0] for m < M-2\ny[m] = z[m,0]",
     "tensor t : f32[M]\nt[0] = x[0,0]\nt[1] = exp(t[0])\nt[m+2] = x[m,0] for m < M-2\ny[m] = z[m,0]+t[m]-t[m]"},
    {"a sum with a normalised row", kPairRow, "e[m,n] = exp(x[m,n])\ns[m,n] = e[m,n]/sum[n](e[m,n])\ny[m,n] = z[m,n]",
     "e[m,n] = exp(x[m,n])\ns[m,n] = e[m,n]/sum[n](e[m,n])\ny[m,n] = s[m,n]+z[m,n]-s[m,n]"},
    {"a scatter under another name",
     "dim J = 7, R = 5, D = 3\ninput s : f32[J,D]\ninput i : i64[J]\noutput y : f32[R,D]",
     "y[r,d] = sum[j where i[j] == r](s[j,d])", "y[r,d] = sum[j](select(r == i[j], s[j,d], 0))"},
};

class EqualPair : public ::testing::TestWithParam<Pair> {};
TEST_P(EqualPair, IsProved) {
  EXPECT_TRUE(pair_is_proved(GetParam())) << GetParam().first << "\n--\n" << GetParam().second;
}
TEST_P(EqualPair, ComputesTheSame) {
  for (int family = 0; family < input_families(); ++family) expect_same_values(GetParam(), family);
}
INSTANTIATE_TEST_SUITE_P(Normal, EqualPair, ::testing::ValuesIn(kPairEqual));

// A graph of maxima in which every tensor is read twice has as many paths as there are subsets of its tensors.
TEST(NormalForm, MaximaOfSharedMaximaAreSeenOnce) {
  std::string first = "t0[m,n] = x[m,n] for n < N\n", second = "w0[m,n] = x[m,n] for n < N\n";
  for (int i = 1; i < 40; ++i) {
    first += fmt::format("t{0}[m,n] = max(t{1}[m,n]*2, t{1}[m,n] + {0}) for n < N\n", i, i - 1);
    second += fmt::format("w{0}[m,n] = 0 + max(w{1}[m,n] + {0}, w{1}[m,n]*2) for n < N\n", i, i - 1);
  }
  first += "y[m] = max[n](t39[m,n])", second += "y[m] = max[n](w39[m,n])";
  const Deadline deadline(Seconds(5));
  pair_is_proved({"shared maxima", kPairReduced, first.c_str(), second.c_str()});
  EXPECT_FALSE(deadline.passed());
}

}  // namespace
}  // namespace solstice::ir
