// Settings that families propose, with their times.
#include <algorithm>
#include <utility>

#include "families/family.h"
#include "unit/families/h200.h"
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

// The planner believes the time of a proposal, and a search that of the same knobs written in a program.
void expect_times_of_cost(const char* family_name, ir::Program program, bool frozen = false) {
  const Family& family = *find_family(family_name);
  for (const char* numerics : {"reference", "medium"}) {
    const Context context{program, h200(), numerics, frozen};
    ir::Kernel& kernel = program.kernels.front();
    kernel.family = family_name;
    kernel.knobs = {};
    const auto proposed = family.propose(context, kernel);
    ASSERT_TRUE(proposed.ok()) << family_name << ": " << proposed.error().text();
    EXPECT_FALSE(proposed->empty());
    for (const auto& [knobs, time] : *proposed) {
      kernel.knobs = knobs;
      const auto cost = family.cost(context, kernel);
      ASSERT_TRUE(cost.ok()) << ir::to_text(knobs) << ": " << cost.error().text();
      EXPECT_EQ(cost->time, time) << family_name << "(" << ir::to_text(knobs) << "), " << numerics;
    }
  }
}

ir::Program product(const char* format, int64_t m, int64_t n, int64_t k) {
  return load_text(fmt::format(R"(program p
dim M = {1}, N = {2}, K = {3}
input  x : {0}[M, K]
param  w : {0}[N, K]
output y : {0}[M, N]
kernel k by gemm() {{
  y[m,n] = gelu(sum[k](x[m,k] * w[n,k]))
}})",
                               format, m, n, k));
}

TEST(Proposed, ProductsHaveTheTimesOfTheirKnobs) {
  for (const char* format : {"f32", "bf16"}) {
    for (const bool frozen : {false, true}) {
      expect_times_of_cost("gemm", product(format, 4096, 4096, 4096), frozen);
      expect_times_of_cost("gemm", product(format, 8, 4096, 8192), frozen);
      expect_times_of_cost("gemm", product(format, 96, 100, 64), frozen);
      expect_times_of_cost("gemm", product(format, 1, 1000, 777), frozen);
    }
  }
}

TEST(Proposed, OtherFamiliesHaveTheTimesOfTheirKnobs) {
  const auto of = [](const char* family, const char* shape, const char* result, const char* equation) {
    return load_text(fmt::format("program p\ninput x : f32[{}]\noutput y : f32[{}]\nkernel k by {}() {{\n  {}\n}}\n",
                                 shape, result, family, equation));
  };
  expect_times_of_cost("map", of("map", "512, 1024", "512, 1024", "y[m,n] = tanh(x[m,n])"));
  expect_times_of_cost("map", of("map", "64, 1026", "64, 512", "y[m,n] = max[r<3](x[m,2*n+r]) for m<64, n<512"));
  expect_times_of_cost("rows", of("rows", "512, 1024", "512, 1024", "y[m,n] = x[m,n] / sum[k](x[m,k])"));
  expect_times_of_cost("rows", of("rows", "4, 300000", "4", "y[m] = sum[k](x[m,k])"));
  expect_times_of_cost("reduce", of("reduce", "4096, 512", "512", "y[n] = sum[k](x[k,n])"));
  expect_times_of_cost("reduce", of("reduce", "512, 4096", "512", "y[n] = sum[k](x[n,k])"));
  expect_times_of_cost("scan", of("scan", "64, 100000", "64, 100000", "y[m,n] = sum[k where k <= n](x[m,k])"));
}

}  // namespace
}  // namespace solstice::families
