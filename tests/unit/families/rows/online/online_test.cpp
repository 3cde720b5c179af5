// Online reductions of family `rows` (residency=once) on programs as people write them.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "families/reduction/phases.h"
#include "unit/families/rows/refusal.h"
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

// A kernel over x and z of M rows, of which only y is wanted.
std::string over_rows(const std::string& knobs, const std::string& equations,
                      const std::string& extents = "M = 3, N = 1301", const std::string& dtype = "f32") {
  return fmt::format(
      "program p\ndim {}\ninput x : {}[M, N]\ninput z : {}[M, N]\noutput y : {}[M]\nkernel k by rows({}) {{\n{}\n}}\n",
      extents, dtype, dtype, dtype, knobs, equations);
}
constexpr char kSumOfExponentials[] = "mx[m] = max[n](x[m,n])\ny[m] = sum[n](exp(x[m,n] - mx[m]))";
constexpr char kOnline[] = "residency=once, threads=64";

// Rows of which only results are wanted: each thread finds them around its own center. A gather and a bias are read
// ahead.
TEST(RowsPrograms, LookedAtOnce) {
  expect_text(R"(program cross_entropy
dim M = 5, N = 1301
input  x : f32[M, N]
input  t : i64[M]
input  b : f32[M]
output y : f32[M]
kernel k by rows(residency=once, threads=64) {
  mx[m] = max[n](x[m,n])
  y[m] = log(sum[n](exp(x[m,n] - mx[m]))) - (x[m,t[m] else 0] - mx[m]) + b[m]
})");
  expect_text(R"(program sums
dim M = 3, N = 9000
input  x : f32[M, N]
output y : f32[M]
kernel k by rows(residency=once, threads=128, cluster=4) {
  mx[m] = max[n](3 * x[m,n])
  y[m] = log(sum[n](exp(3 * x[m,n] - mx[m]))) + mx[m]
})");
  expect_text(R"(program statistics
dim B = 2, C = 3, H = 31, W = 36
input  x : f32[B, C, H, W]
output mu : f32[C]
output vr : f32[C]
kernel k by rows(residency=once, threads=32) {
  mu[c] = mean[b,h,w](x[b,c,h,w] + 100)
  vr[c] = var[b,h,w](x[b,c,h,w] + 100)
})");
}

// Rows of infinities and NaN, as direct evaluation has them, whatever the layout.
TEST(RowsPrograms, InfinitiesAndNan) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const char* knobs : {"residency=once, threads=64", "residency=once, threads=64, cluster=4",
                            "residency=registers, threads=64", "team=2, threads=64"}) {
    for (const char* equations : {kSumOfExponentials, "y[m] = logsumexp[n](x[m,n])", "y[m] = var[n](x[m,n])"}) {
      const ir::Program program = load_text(over_rows(knobs, equations, "M = 6, N = 1304"));
      testing::Tensors values = testing::random_inputs(program, 1);
      std::vector<double>& x = values.at(0);
      for (size_t i = 0; i < 1304; ++i) x[i] = -kInf;               // all of row 0
      for (size_t i = 1304; i < 2600; ++i) x[i] = -kInf;            // all but the end of row 1
      for (size_t i = 2608; i < 2 * 1304 + 700; ++i) x[i] -= 1000;  // row 2: what is small comes first
      x[3 * 1304 + 1000] = kInf;
      x[4 * 1304 + 500] = std::nan("");
      for (size_t i = 5 * 1304; i < 6 * 1304; ++i) x[i] = kInf;
      SCOPED_TRACE(fmt::format("{}: {}", knobs, equations));
      expect_same(program, 1e-4, 4, values);
    }
  }
}

// An integer sum is exact, and so is what is made of it.
TEST(RowsPrograms, IntegerSumsOnce) {
  expect_text(R"(program sums
dim M = 3, N = 1301
input  q : i32[M, N]
output s : i64[M]
output v : f64[M]
kernel k by rows(residency=once, threads=64) {
  s[m] = sum[n](q[m,n])
  v[m] = s[m] + sum[n](exp(f64(q[m,n]) - max[j](f64(q[m,j]))))
})",
              1e-12, 1000000);
}

TEST(RowsPrograms, DoublesOnce) {
  for (const char* equations : {kSumOfExponentials, "y[m] = logsumexp[n](x[m,n])", "y[m] = var[n](x[m,n] + 100)",
                                "mx[m] = max[n](x[m,n])\ny[m] = sum[n](exp(x[m,n] - mx[m]) * z[m,n]) + mx[m]"})
    expect_text(over_rows(kOnline, equations, "M = 3, N = 1301", "f64"), 1e-12);
}

// A center that does not bound the exponents, or is of other elements, would make a part's exponentials infinite.
TEST(RowsPrograms, CentersThatDoNotBoundAreRefused) {
  for (const char* equations : {
           "mx[m] = max[n](z[m,n])\ny[m] = sum[n](exp(x[m,n] - mx[m]))",
           "mx[m] = max[n where n < 600](x[m,n])\ny[m] = sum[n](exp(x[m,n] - mx[m]))",
           "mx[m] = max[n](x[m,n])\ny[m] = sum[n](exp(3 * x[m,n] - mx[m]))",
           "a[m] = max[n](x[m,n])\nb[m] = max[n](z[m,n])\ny[m] = sum[n](exp(x[m,n] - (a[m] + b[m])))",
           "mu[m] = sum[n](x[m,n]) / 1301\ny[m] = sum[n]((bf16(x[m,n]) - mu[m]) * (bf16(x[m,n]) - mu[m]))",
           "a[m] = argmax[n](x[m,n])\nmx[m] = max[n](x[m,n])\ny[m] = sum[n](exp(x[m,n] - mx[m])) + a[m]",
       }) {
    const std::string once = rows_refusal(load_text(over_rows(kOnline, equations))),
                      team = rows_refusal(load_text(over_rows("team=2", equations)));
    EXPECT_NE(once.find("`residency=once`: "), std::string::npos) << equations << once;
    EXPECT_EQ(once.find("`team`"), std::string::npos) << once;
    EXPECT_NE(team.find("`team`: "), std::string::npos) << equations << team;
    SCOPED_TRACE(equations);
    expect_text(over_rows("threads=64", equations));
  }
}

// Most blocks have no elements of a row, and most threads of the others none.
TEST(RowsPrograms, EmptyThreadsOnce) {
  for (const char* equations : {"y[m] = var[n](x[m,n] + 100)", kSumOfExponentials})
    expect_text(over_rows("residency=once, threads=256, cluster=8", equations, "M = 2, N = 64"));
}

TEST(RowsPrograms, OtherReducersOnce) {
  expect_text(R"(program others
dim M = 3, N = 1301
input  x : f32[M, N]
input  z : f32[M, N]
output y : f32[M]
output p : f32[M]
output c : i32[M]
kernel k by rows(residency=once, threads=64) {
  mx[m] = max[n](x[m,n])
  lo[m] = min[n](z[m,n])
  s[m] = sum[n](exp(x[m,n] - mx[m]) * z[m,n])
  y[m] = log(sum[n](exp(x[m,n] - mx[m]))) + s[m] * lo[m]
  p[m] = prod[n](1 + z[m,n] / 1000) + mx[m]
  c[m] = select(any[n](x[m,n] > 3), 1, 0)
})");
}

// The text does not depend on where expressions lie in the heap.
TEST(RowsPrograms, OnceIsTheSameTextEachTime) {
  const auto code = [] {
    const ir::Program program =
        load_text(over_rows(kOnline, "mx[m] = max[n](x[m,n])\ny[m] = sum[n](exp(x[m,n] - mx[m]) * z[m,n])"));
    const auto out = find_family("rows")->generate({program, small_machine()}, program.kernels.front());
    return out.ok() ? out->sources.front().code : out.error().text();
  };
  const std::string first = code();
  std::vector<std::unique_ptr<ir::Expr>> between;
  for (int i = 0; i < 20; ++i) {
    between.resize(between.size() + static_cast<size_t>(7 * i));
    for (auto& e : between) {
      if (!e) e = std::make_unique<ir::Expr>();
    }
    EXPECT_EQ(code(), first);
  }
}

// What threads of a large cluster exchange must fit, once as elsewhere.
TEST(RowsPrograms, ExchangesOfOnceFitSharedMemory) {
  std::string equations = "mx[m] = max[n](x[m,n])\n", sum = "y[m] = 0";
  for (int i = 0; i < 60; ++i) {
    equations += fmt::format("s{0}[m] = sum[n](exp(x[m,n] - mx[m]) * (z[m,n] + {0}))\n", i);
    sum += fmt::format(" + s{}[m]", i);
  }
  const std::string why =
      rows_refusal(load_text(over_rows("residency=once, threads=1024, cluster=16", equations + sum)));
  EXPECT_NE(why.find("shared memory >"), std::string::npos) << why;
}

// The family's own choice, then others, no layout twice: texts of kernels differ.
TEST(RowsPrograms, ProposesItsOwnChoiceFirst) {
  for (const char* extents : {"M = 4096, N = 1024", "M = 300, N = 40000", "M = 20000, N = 37"}) {
    ir::Program program = load_text(over_rows("", kSumOfExponentials, extents));
    ir::Kernel& kernel = program.kernels.front();
    const Family& family = *find_family("rows");
    const auto proposed = family.propose({program, small_machine()}, kernel);
    ASSERT_TRUE(proposed.ok()) << proposed.error().text();
    EXPECT_TRUE(proposed->front().knobs.items.empty());
    std::set<std::string> texts;
    for (const auto& [knobs, time] : *proposed) {
      kernel.knobs = knobs;
      const auto emission = family.generate({program, small_machine()}, kernel);
      ASSERT_TRUE(emission.ok()) << ir::to_text(knobs) << emission.error().text();
      EXPECT_TRUE(texts.insert(emission->sources.front().code).second) << ir::to_text(knobs);
    }
  }
}

}  // namespace
}  // namespace solstice::families
