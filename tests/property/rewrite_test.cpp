// Every rewrite keeps the values of every output, on random instances of what it looks for and of what looks alike.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "ir/equivalence.h"
#include "lang/parse.h"
#include "lang/print.h"
#include "property/rewrite_support.h"

namespace solstice::ir::testing {
namespace {

constexpr int kPrograms = 400;

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int64_t number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool coin(int one_in = 2) { return number(1, one_in) == 1; }
  std::string any(std::initializer_list<const char*> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(random_() % list.size()));
  }

 private:
  std::mt19937_64 random_;
};

// Runs a generator's programs through one rewrite; some must be sites.
template <typename Generator>
void expect_sound(const char* name, Generator generator, int at_least) {
  const Rewrite* rewrite = find_rewrite(name);
  ASSERT_NE(rewrite, nullptr) << name;
  int sites = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const Tried tried = expect_same_values(generator(dice), rewrite);
    sites += tried.sites;
    if (tried.failed) return;
  }
  EXPECT_GE(sites, at_least) << "too few of the instances have a site to say anything";
}

// A product or a convolution, elementwise linear equations, a sum or mean over some of its indices.
std::string sums_of_products(Dice& dice) {
  const bool conv = dice.coin();
  std::string text = fmt::format("program sums\ndim M = {}, N = {}, K = {}, F = {}\n", dice.number(1, 5),
                                 dice.number(2, 5), dice.number(1, 4), dice.number(1, 3));
  text += "param b : f32[N] \"b\"\nparam s : f32[M] \"s\"\n";
  const std::string where = dice.any({"", "", " where n <= m", " where n != 1"});
  const std::string reducer = where.empty() ? dice.any({"sum", "mean"}) : "sum";
  if (conv) {
    const std::string offset = dice.any({"n+r-1 else 0", "n+r-1 else 1", "n+r-1 else s[m]"});
    text += "input x : f32[M, N]\nparam w : f32[M, K, F] \"w\"\noutput y : f32[M]\n";
    text += fmt::format("z[m,n] = sum[k,r](x[m,{}] * w[m,k,r]){} for n<N\n", offset,
                        dice.any({"", " + b[n]", " - s[m]", " / (2 + s[m]**2)"}));
  } else {
    const std::string inner = dice.any({"", "", " where k <= n", " where k < 2", " where k == m"});
    text += "input x : f32[M, K]\nparam w : f32[N, K] \"w\"\noutput y : f32[M]\n";
    text +=
        fmt::format("z[m,n] = sum[k{}](x[m,k] * {}w[n,k]){}\n", inner, dice.any({"", "2 * ", "b[n] * ", "x[m,k] * "}),
                    dice.any({"", " + b[n]", " - b[n] * s[m]", " + s[m]"}));
  }
  text += fmt::format("u[m,n] = {}\n", dice.any({"z[m,n]", "z[m,n] * 0.5", "z[m,n] / 3 - b[n]", "bf16(z[m,n])",
                                                 "relu(z[m,n])", "z[m,n] * b[n]", "-z[m,n]", "z[m,n] + z[m,n]"}));
  text += fmt::format("y[m] = {}{}[n{}](u[m,n]){}\n", dice.any({"", "1 + ", "2 * "}), reducer, where,
                      dice.any({"", " + s[m]", " * s[m]"}));
  if (dice.coin(4)) text += "output z2 : f32[M, N]\nz2[m,n] = z[m,n]\n";
  return text;
}

TEST(Rewrite, FactorSums) { expect_sound("factor_sums", sums_of_products, 100); }

// A pooling of a convolution: windows that slide over windows.
std::string pooled_convolutions(Dice& dice) {
  const int64_t s1 = dice.number(1, 2), s2 = dice.number(1, 3), k1 = dice.number(1, 3), k2 = dice.number(1, 3),
                p = dice.number(1, 4);
  const bool padded = dice.coin();
  const int64_t u = (p - 1) * s2 + k2, n = (u - 1) * s1 + k1 - (padded ? 1 : 0);
  std::string text =
      fmt::format("program pooled\ndim M = 2, C = 2, K = 3, N = {}, U = {}, P = {}\n", std::max<int64_t>(n, 1), u, p);
  text += "input x : f32[M, C, N]\nparam w : f32[K, C, " + std::to_string(k1) +
          "] \"w\"\nparam b : f32[K] \"b\"\noutput y : f32[M, K, P]\n";
  text += fmt::format("t[m,k,u] = sum[c,r](x[m,c,{}*u+r{}] * w[k,c,r]) + b[k] for u<U\n", s1,
                      padded || n < 1 ? "-1 else 0" : "");
  const std::string border = dice.any({"", "", "-1 else 0"});
  text += fmt::format("y[m,k,p] = {}[i<{}{}](t[m,k,{}*p+i{}]) * 2 for p<P\n", dice.any({"sum", "mean"}), k2,
                      dice.any({"", "", " where i != 1"}), s2, border);
  return text;
}

TEST(Rewrite, FactorSumsOfWindows) { expect_sound("factor_sums", pooled_convolutions, 100); }

// Elementwise equations of literals, some with other readers.
std::string scalar_chains(Dice& dice) {
  std::string text = "program chain\ndim M = 7\ninput x : f32[M]\nparam w : f32[M] \"w\"\noutput y : f32[M]\n";
  std::string last = "x";
  const int64_t length = dice.number(2, 5);
  for (int64_t i = 0; i < length; ++i) {
    const std::string a = last + "[m]";
    const std::string next = i + 1 == length ? "y" : fmt::format("t{}", i);
    const std::string c = dice.any({"2", "0.5", "-3", "-0.25", "1", "0"});
    const std::string map = dice.any(
        {"{0} * {1}", "{1} * {0}", "{0} + {1}", "{0} - {1}", "{1} - {0}", "{0} / 4", "relu({0})", "clamp({0}, -1, {1})",
         "-{0}", "min({1}, {0})", "{0} + {0}", "{0} * 0.5 + {0}", "bf16({0})", "{0} + w[m]", "{0} - 3*{0}",
         "select({0} * 2 + 1 > 0, {0} * 2 * 2, 1)", "max({0} + 1, {0} * 2)", "clamp({0} * 2, 1, 0)"});
    text += fmt::format("{}[m] = {}\n", next, fmt::vformat(map, fmt::make_format_args(a, c)));
    last = next;
  }
  if (dice.coin(3)) text += "output z : f32[M]\nz[m] = " + std::string(length > 2 ? "t0[m]\n" : "y[m] * 2\n");
  return text;
}

TEST(Rewrite, FoldScalars) { expect_sound("fold_scalars", scalar_chains, 100); }

// Extrema of maps, with windows, padding, conditions, and maps that are not monotone.
std::string extrema_of_maps(Dice& dice) {
  std::string text = fmt::format("program extrema\ndim M = {}, N = {}, P = {}\n", dice.number(1, 3), dice.number(4, 7),
                                 dice.number(2, 3));
  text += "input x : f32[M, N]\nparam b : f32[M] \"b\"\nparam c : f32[N] \"c\"\n";
  const auto map = [&](const std::string& a) {
    const std::string f = dice.any({"relu({0})",
                                    "tanh({0})",
                                    "exp({0})",
                                    "sigmoid({0})",
                                    "{0} * -2",
                                    "{0} / 3",
                                    "3 - {0}",
                                    "{0} + b[m]",
                                    "leaky_relu({0}, 0.2)",
                                    "leaky_relu({0}, -0.2)",
                                    "{0} * b[m]",
                                    "{0} + c[n]",
                                    "abs({0})",
                                    "gelu({0})",
                                    "bf16({0})",
                                    "min({0}, b[m])",
                                    "max(c[n], {0})",
                                    "clamp({0}, -1, 1)",
                                    "floor({0})",
                                    "1 / (2 + exp({0}))",
                                    "1 / {0}",
                                    "{0} * {0}",
                                    "select({0} > 0.5, {0}, 0.5 * {0})",
                                    "softplus({0})",
                                    "elu({0})",
                                    "-{0}"});
    return fmt::vformat(f, fmt::make_format_args(a));
  };
  text += fmt::format("t[m,n] = {}\nu[m,n] = {}\n", map("x[m,n]"), dice.coin() ? map("t[m,n]") : "t[m,n]");
  const std::string reducer = dice.any({"max", "min"});
  const std::string padding = dice.any({"", " else -inf", " else inf", " else 0", " else -inf"});
  switch (dice.number(0, 3)) {
    case 0:
      text += fmt::format("output y : f32[M]\ny[m] = {}[n](u[m,n])\n", reducer);
      break;
    case 1:
      text += fmt::format("output y : f32[M]\ny[m] = 1 + {}[n where n > 0](u[m,n])\n", reducer);
      break;
    case 2:
      text += fmt::format("output y : f32[M, P]\ny[m,p] = {}[i<2](u[m,p+i]) * 2\n", reducer);
      break;
    default:
      text += fmt::format("output y : f32[M, P]\ny[m,p] = {}[i<{}](u[m,{}*p+{}*i-{}{}])\n", reducer,
                          padding.empty() ? 1 : 3, dice.number(1, 2), padding.empty() ? 1 : dice.number(1, 2),
                          padding.empty() ? 0 : dice.number(0, 3), padding);
      break;
  }
  if (dice.coin(4)) text += "output z : f32[M, N]\nz[m,n] = t[m,n]\n";
  return text;
}

TEST(Rewrite, CommuteMonotone) { expect_sound("commute_monotone", extrema_of_maps, 100); }

// Two windows in a row, with strides, padding, and maps between them.
std::string windows_of_windows(Dice& dice) {
  const int64_t s1 = dice.number(1, 3), s2 = dice.number(1, 3), k1 = dice.number(1, 3), k2 = dice.number(1, 3),
                p = dice.number(1, 3);
  const int64_t u = (p - 1) * s2 + k2, n = (u - 1) * s1 + k1;
  const std::string outer = dice.any({"max", "min", "sum", "mean", "prod"});
  const std::string inner = dice.coin(4) ? dice.any({"max", "sum", "mean"}) : outer;
  std::string text = fmt::format("program windows\ndim M = 2, N = {}, U = {}, P = {}\ninput x : f32[M, N]\n", n, u, p);
  text += "output y : f32[M, P]\n";
  const std::string pad = dice.any({"", "", " else 0", " else -inf"});
  text += fmt::format("t[m,u] = {}[j<{}{}](x[m,{}*u+j{}{}]) for u<U\n", inner, k1,
                      dice.any({"", "", "", " where j != 1"}), s1, pad.empty() ? "" : "-1", pad);
  const std::string outer_pad = dice.any({"", "", "", " else 0"});
  text += fmt::format("y[m,p] = {}[i<{}](t[m,{}*p+i{}{}]) + 1 for p<P\n", outer, k2, s2, outer_pad.empty() ? "" : "-1",
                      outer_pad);
  return text;
}

TEST(Rewrite, ComposeWindows) { expect_sound("compose_windows", windows_of_windows, 100); }

std::string dead_equations(Dice& dice) {
  std::string text = "program dead\ndim M = 4\ninput x : f32[M]\nbuffer r : f32[M] \"r\"\noutput y : f32[M]\n";
  text += "tensor d : f32[M]\ntensor r1 : f32[M] into r\n";
  text += "a[m] = x[m] * 2\nb[m] = a[m] + 1\nd[m] = b[m] * x[m]\n";
  text += fmt::format("r1[m] = r[m] + {}[m]\n", dice.any({"x", "a", "b", "d"}));
  text += fmt::format("y[m] = {}[m] * 3\n", dice.any({"x", "a", "b", "d"}));
  return text;
}

TEST(Rewrite, DropDead) { expect_sound("drop_dead", dead_equations, 100); }

// Normalisations behind a bias, over the right and the wrong indices, with running statistics and other readers.
std::string normalisations(Dice& dice) {
  std::string text = fmt::format("program norm\ndim B = {}, K = {}, P = {}\n", dice.number(2, 3), dice.number(2, 4),
                                 dice.number(2, 4));
  text += "input x : f32[B, K, P]\nparam b : f32[K] \"b\"\nparam s : f32[B] \"s\"\nbuffer rm : f32[K] \"rm\"\n";
  text += "output y : f32[B, K, P]\n";
  text += fmt::format("t[n,k,p] = {}\n", dice.any({"x[n,k,p] + b[k]", "b[k] + 2 * x[n,k,p]", "x[n,k,p] - b[k] * s[n]",
                                                   "x[n,k,p] + s[n]", "x[n,k,p] + b[k] + s[n]", "x[n,k,p]**2 - 3"}));
  const bool batch = dice.coin();
  const std::string over = batch ? "n,p" : dice.any({"p", "k,p"});
  const std::string at = batch ? "k" : over == "p" ? "n,k" : "n";
  const std::string center = dice.any({"mean", "mean", "max", "min", "logsumexp"});
  text += fmt::format("mu[{}] = {}[{}](t[n,k,p])\n", at, center, over);
  text += fmt::format("vr[{}] = {}[{}](t[n,k,p])\n", at, dice.any({"var", "var", "mean"}), over);
  text += fmt::format(
      "y[n,k,p] = {}\n",
      fmt::vformat(dice.any({"(t[n,k,p] - mu[{0}]) * rsqrt(abs(vr[{0}]) + 1e-5)", "(t[n,k,p] - mu[{0}]) * s[n]",
                             "exp(t[n,k,p] - mu[{0}])", "t[n,k,p] * mu[{0}]", "mu[{0}] - t[n,k,p]",
                             "t[n,k,p] - 2 * mu[{0}]", "exp(t[n,k,p] - max[p](t[n,k,p]))"}),
                   fmt::make_format_args(at)));
  if (batch && dice.coin())
    text += "tensor rm1 : f32[K] into rm\nrm1[k] = 0.9 * rm[k] + 0.1 * select(isfinite(mu[k]), mu[k], inf - inf)\n";
  if (dice.coin(5)) text += "output z : f32[B, K, P]\nz[n,k,p] = t[n,k,p]\n";
  if (dice.coin(5)) text += "output z2 : f32[B, K, P]\nz2[n,k,p] = t[n,k,p-1 else 0] for p<P\n";
  return text;
}

TEST(Rewrite, CancelBias) { expect_sound("cancel_bias", normalisations, 100); }

std::string statistics(Dice& dice) {
  std::string text =
      "program statistics\ndim M = 3, N = 3\ninput x : f32[M, N]\noutput a : f32[M, N]\noutput c : f32[N, M]\n";
  const auto statistic = [&](const char* m, const char* j) {
    const std::string f =
        dice.any({"mean[{1}](x[{0},{1}])", "var[{1}](x[{0},{1}])", "sum[{1} where {1} <= {0}](x[{0},{1}])",
                  "mean[{1}](x[{1},{0}])", "mean[{1}<3](x[{0},{1}] * {0})", "mean[{1}<2](x[{0},{1}])"});
    return fmt::vformat(f, fmt::make_format_args(m, j));
  };
  if (dice.coin()) text += fmt::format("mu[m] = {} for m<M\n", statistic("m", "j"));
  text += fmt::format("a[m,n] = x[m,n] - {}\n", statistic("m", "j"));
  text += fmt::format("c[i,l] = x[l,i] * {} + {}\n", statistic("l", "k"), statistic("l", "i2"));
  if (text.find("mu[m]") != std::string::npos) text += "output d : f32[M]\nd[m] = mu[m]\n";
  return text;
}

TEST(Rewrite, ShareStatistics) { expect_sound("share_statistics", statistics, 100); }

// Long statistics in maps, of each other, guarded and not.
std::string long_statistics(Dice& dice) {
  std::string text =
      "program apart\ndim M = 2, N = 260\ninput x : f32[M, N]\noutput y : f32[M, N]\noutput v : f32[M]\n";
  const auto statistic = [&](const char* m) {
    const std::string f =
        dice.any({"mean[k](x[{0},k])", "var[k](x[{0},k])", "max[k](x[{0},k])", "var[k<258](x[{0},k] + x[{0},k+1])",
                  "sum[k where k < 200](x[{0},k])", "var[k where k > 3](x[{0},k])", "logsumexp[k](x[{0},k])",
                  "mean[k](abs(x[{0},k] - min[j](x[{0},j])))", "mean[i<2,k](x[i,k])", "max[k<3](x[{0},k])"});
    return fmt::vformat(f, fmt::make_format_args(m));
  };
  text += fmt::format("y[m,n] = (x[m,n] - {}) * select(n < 7, rsqrt(abs({}) + 1e-3), {})\n", statistic("m"),
                      statistic("m"), statistic("m"));
  return text + fmt::format("v[m] = {}{}\n", dice.any({"", "1 + "}), statistic("m"));
}

TEST(Rewrite, SplitStatistics) { expect_sound("split_statistics", long_statistics, 100); }

std::string accumulations(Dice& dice) {
  std::string text =
      fmt::format("program scan\ndim B = 2, T = {}\ninput x : f32[B, T]\ninput h0 : f32[B]\n", dice.number(1, 6));
  text += "output y : f32[B, T]\noutput h : f32[B, T]\n";
  const std::string before =
      dice.any({"t-1 else 0", "t-1 else 1", "t-1 else h0[b]", "t+1 else h0[b]", "t-1 else x[b,t]", "t-2 else 0"});
  const std::string step =
      dice.any({"h[b,{0}] + x[b,t]", "x[b,t]**2 + h[b,{0}]", "h[b,{0}] * (1 + x[b,t])", "max(h[b,{0}], x[b,t])",
                "min(x[b,t], h[b,{0}])", "h[b,{0}] - x[b,t]", "0.5 * h[b,{0}] + x[b,t]",
                "h[b,{0}] + x[b,t] * sum[s where s <= t](x[b,s])", "h[b,{0}] + t * x[b,t]", "h[b,{0}] + h[b,{0}]"});
  text += fmt::format("h[b,t] = {}\n", fmt::vformat(step, fmt::make_format_args(before)));
  return text + "y[b,t] = h[b,t] * 2\n";
}

TEST(Rewrite, PrefixSums) { expect_sound("prefix_sums", accumulations, 100); }

// Strides, dilations, paddings, kernels shorter than the stride, sizes that the stride does not divide, other factors.
std::string transposed_convolutions(Dice& dice) {
  const bool flat = dice.coin();
  std::string text = fmt::format("program convt\ndim N = 2, C = 2, K = 2, I = {}, U = {}, J = 2, V = {}\n",
                                 dice.number(4, 6), dice.number(1, 9), dice.number(2, 5));
  const auto relation = [&](const char* u, const char* i, const char* r) {
    return fmt::format("{} == {}*{}{}{}-{}", u, dice.number(1, 3), i, dice.any({"+", "+", "+2*", "+3*"}), r,
                       dice.number(0, 3));
  };
  const int64_t taps = dice.number(1, 4);
  text += fmt::format("param w : f32[C, K, {}, 2] \"w\"\nparam b : f32[K] \"b\"\nparam g : f32[I] \"g\"\n", taps);
  const std::string scale = dice.any({"", "", " * g[i]", " + g[i]"});
  const std::string more = dice.any({"", "", " and r < 2", " and i > 1"});
  if (flat) {
    text += "input x : f32[N, C, I]\noutput y : f32[N, K, U]\n";
    text += fmt::format("t[n,k,u] = sum[c,i,r where {}{}](x[n,c,i] * w[c,k,r,0]{}){} for u<U\n",
                        relation("u", "i", "r"), more, scale, dice.any({"", " + b[k]", " * u"}));
    return text + "y[n,k,u] = t[n,k,u] + 1\n";
  }
  text += "input x : f32[N, C, I, J]\noutput y : f32[N, K, U, V]\n";
  text += fmt::format("t[n,k,u,v] = sum[c,i,j,r,s where {} and {}{}](x[n,c,i,j] * w[c,k,r,s]{}) + b[k] for u<U, v<V\n",
                      relation("u", "i", "r"), relation("v", "j", "s"), more, scale);
  return text + "y[n,k,u,v] = relu(t[n,k,u,v])\n";
}

TEST(Rewrite, SplitParity) { expect_sound("split_parity", transposed_convolutions, 100); }

// Products with diagonals, shifts and triangles, and what looks like them.
std::string masked_sums(Dice& dice) {
  const int64_t k = dice.number(2, 5);
  std::string text = fmt::format("program masked\ndim M = {0}, K = {0}, N = {1}\n", k, dice.number(1, 4));
  text += "input a : f32[K]\ninput x : f32[K, N]\nparam w : f32[M, K] \"w\"\noutput y : f32[M, N]\n";
  const std::string condition = dice.any({"k == m", "k == m", "k == m", "m == k", "k <= m", "k < m", "M-1-m == k",
                                          "k <= m", "m < k", "k >= m", "not (k > m)", "k == m + 1", "k == 2*m",
                                          "k == 0", "a[k] > 0", "k != m", "k + m < K", "k == m and k > 0"});
  const std::string value = dice.any({"1", "1", "a[k]", "a[k]", "w[m,k]", "0.5", "exp(a[k])"});
  const std::string mask = dice.coin(6)   ? fmt::format("({})", condition)
                           : dice.coin(5) ? fmt::format("select({}, 0, {})", condition, value)
                                          : fmt::format("select({}, {}, 0)", condition, value);
  const std::string other =
      dice.any({"x[k,n]", "x[k,n]", "x[k,n] * a[k]", "tanh(x[k,n])", "x[k,n]", "exp(x[k,n])", "x[k,n] * w[m,k]"});
  const std::string term = dice.coin() ? "d[m,k] * " + other : other + " * d[m,k]";
  const bool apart = dice.coin();
  if (apart) text += fmt::format("d[m,k] = {} for m<M, k<K\n", mask);
  const std::string body = apart ? term : fmt::format("{} * {}", mask, other);
  text +=
      fmt::format("y[m,n] = {}{}[k{}]({}){} for m<M\n", dice.any({"", "1 - ", "2 * "}), dice.coin(8) ? "max" : "sum",
                  dice.coin(8) ? " where k > 0" : "", body, dice.any({"", " + a[m]"}));
  return text;
}

TEST(Rewrite, LeaveOutZeros) { expect_sound("leave_out_zeros", masked_sums, 100); }

// Every problem that tests have, at shrunken dims, whether a rewrite saves there or not.
TEST(Rewrite, ProblemsKeepTheirValues) {
  int programs = 0, sites = 0;
  for (const char* folder : {"/tests/golden/import", "/examples/programs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(SOLSTICE_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".ucut") continue;
      SCOPED_TRACE(entry.path().string());
      Diagnostics diagnostics;
      const lang::Program tree = lang::parse(read_file(entry.path()).value(), diagnostics);
      const std::string small = lang::print(lang::with_dims(tree, shrunken_dims(tree, tree, 0)));
      const auto subject = bound_text(small, "small.ucut");
      if (!subject.ok() || !find_sites(*subject).ok()) continue;  // kernels, definitions
      const Tried tried = expect_same_values(small, nullptr);
      if (tried.failed) return;
      ++programs;
      sites += tried.sites;
    }
  }
  EXPECT_GE(programs, 12);
  EXPECT_GE(sites, 10);
}

}  // namespace
}  // namespace solstice::ir::testing
