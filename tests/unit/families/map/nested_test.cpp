// Reductions of reductions: a value that the loop around it does not vary is computed once, whatever reads it.
#include <fmt/format.h>

#include <algorithm>

#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

// Step `i` reads the two before it in a logsumexp each, as soft dynamic time warping does.
std::string steps(int count) {
  std::string declared, body = "  a0[b] = x[b,0]\n  a1[b] = x[b,1]\n";
  for (int i = 2; i <= count; ++i) {
    const std::string result = i == count ? "y" : fmt::format("a{}", i);
    declared += fmt::format("tensor s{} : f32[B, K]\n", i);
    body += fmt::format("  s{0}[b,0] = a{1}[b]\n  s{0}[b,1] = a{2}[b]\n", i, i - 1, i - 2);
    body += fmt::format("  {0}[b] = x[b,{1}] - logsumexp[k](s{2}[b,k] * 2)\n", result, i % 8, i);
  }
  return "program p\ndim B = 5, K = 2, N = 8\ninput x : f32[B, N]\n" + declared +
         "output y : f32[B]\nkernel k by map(vector=1) {\n" + body + "}\n";
}

int64_t lines_of(int count) {
  const ir::Program program = load_text(steps(count));
  if (program.kernels.empty()) return 0;
  const auto made = find_family("map")->generate({program, h200()}, program.kernels.front());
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text());
  if (!made.ok()) return 0;
  const std::string& code = made->sources.front().code;
  return std::count(code.begin(), code.end(), '\n');
}

TEST(NestedReductions, TextGrowsAsTheProgramDoes) {
  const int64_t four = lines_of(4), eight = lines_of(8), twelve = lines_of(12);
  EXPECT_GT(four, 0);
  EXPECT_LE(twelve - eight, eight - four + 8);
}

TEST(NestedReductions, KeepTheirValues) { expect_text(steps(6)); }

// Of two loops around a reduction it varies with the outer one alone.
TEST(NestedReductions, StandInTheLoopThatTheyVaryWith) {
  expect_text(
      "program p\ndim B = 6, N = 5, M = 4, K = 3\ninput x : f32[B, N, K]\ninput w : f32[M]\noutput y : f32[B]\n"
      "kernel k by map { y[b] = sum[n](sum[m](w[m] * max[k](x[b,n,k]))) + max[k](x[b,0,k]) }\n");
}

}  // namespace
}  // namespace solstice::families
