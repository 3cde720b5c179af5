// Every rewrite keeps the values of every output, on random instances of what it looks for and of what looks alike.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "property/rewrite_support.h"

namespace solstice::ir::testing {
namespace {

constexpr int kPrograms = 120;

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
  std::string text = fmt::format("program sums\ndim M = {}, N = {}, K = {}, F = {}\n", dice.number(1, 5), dice.number(2, 5),
                                 dice.number(1, 4), dice.number(1, 3));
  text += "param b : f32[N] \"b\"\nparam s : f32[M] \"s\"\n";
  const std::string where = dice.any({"", "", " where n <= m", " where n != 1"});
  const std::string reducer = where.empty() ? dice.any({"sum", "mean"}) : "sum";
  if (conv) {
    const std::string offset = dice.any({"n+r-1 else 0", "n+r-1 else 1", "n+r-1 else s[m]"});
    text += "input x : f32[M, N]\nparam w : f32[M, K, F] \"w\"\noutput y : f32[M]\n";
    text += fmt::format("z[m,n] = sum[k,r](x[m,{}] * w[m,k,r]){} for n<N\n", offset, dice.any({"", " + b[n]", " - s[m]", " / (2 + s[m]**2)"}));
  } else {
    const std::string inner = dice.any({"", "", " where k <= n", " where k < 2", " where k == m"});
    text += "input x : f32[M, K]\nparam w : f32[N, K] \"w\"\noutput y : f32[M]\n";
    text += fmt::format("z[m,n] = sum[k{}](x[m,k] * {}w[n,k]){}\n", inner, dice.any({"", "2 * ", "b[n] * ", "x[m,k] * "}),
                        dice.any({"", " + b[n]", " - b[n] * s[m]", " + s[m]"}));
  }
  text += fmt::format("u[m,n] = {}\n", dice.any({"z[m,n]", "z[m,n] * 0.5", "z[m,n] / 3 - b[n]", "bf16(z[m,n])", "relu(z[m,n])",
                                                 "z[m,n] * b[n]", "-z[m,n]", "z[m,n] + z[m,n]"}));
  text += fmt::format("y[m] = {}{}[n{}](u[m,n]){}\n", dice.any({"", "1 + ", "2 * "}), reducer, where, dice.any({"", " + s[m]", " * s[m]"}));
  if (dice.coin(4)) text += "output z2 : f32[M, N]\nz2[m,n] = z[m,n]\n";
  return text;
}

TEST(Rewrite, FactorSums) { expect_sound("factor_sums", sums_of_products, 60); }

}  // namespace
}  // namespace solstice::ir::testing
