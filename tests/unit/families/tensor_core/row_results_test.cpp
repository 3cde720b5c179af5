// Reductions over a product's rows inside its kernel: what is recognised, refused and emitted. What kernels compute is
// checked on a GPU (property/kernels/gemm.cpp).
#include <gtest/gtest.h>

#include <algorithm>

#include "families/gemm/choice.h"
#include "unit/families/gemm/gemm_programs.h"

namespace solstice::families::of_gemm {
namespace {

// h[m,n] is the product behind a GELU, of which nothing is stored.
ir::Program reducing(const std::string& outputs, const std::string& equations, const std::string& knobs = "",
                     Sides s = {}) {
  return product_program("gelu(sum[k](x[m,k] * w[n,k]) + b[n])", outputs, equations, knobs, s);
}

std::string rows_refusal(const std::string& outputs, const std::string& equations) {
  return refusal_of(reducing(outputs, equations));
}

TEST(GemmRows, AreFoldedBehindTheProductAndItsFallback) {
  const ir::Program program = reducing("output q : f32[M]", "q[m] = logsumexp[n](h[m,n])", "math=fp16x3, tile=128x256");
  const Emission emission = emission_of(program);
  ASSERT_EQ(steps_of(emission), (Names{"up-split", "up", "up-fallback", "up-fold"}));
  EXPECT_TRUE(emission.steps.back().pdl);
  EXPECT_EQ(emission.steps.back().arguments.front().buffer, "up-parts");
  EXPECT_EQ(emission.steps.back().arguments.back().buffer, "q");
  for (const size_t step : {1, 2}) EXPECT_EQ(emission.steps[step].arguments.back().buffer, "up-parts");
  const auto parts = std::find_if(emission.workspace.begin(), emission.workspace.end(),
                                  [](const auto& b) { return b.name == "up-parts"; });
  ASSERT_NE(parts, emission.workspace.end());
  EXPECT_EQ(parts->bytes, 2 * 22 * 1000 * 4) << "a maximum and a sum of each 32 columns of a row";
  EXPECT_NE(emission.sources[1].code.find("kOutputs = 0, kValues = 1;"), std::string::npos) << emission.sources[1].code;
}

TEST(GemmRows, MayBeBesideTheStoredProduct) {
  const ir::Program program =
      reducing("output h : f32[M, N]\noutput mu : f32[M]\noutput s : f32[M]",
               "mu[m] = mean[n](h[m,n])\ns[m] = rsqrt(var[n](h[m,n]) + 0.00001)", "math=fp16x3, tile=128x256");
  const Emission emission = emission_of(program);
  EXPECT_NE(emission.sources[1].code.find("kOutputs = 1, kValues = 2;"), std::string::npos) << emission.sources[1].code;
  EXPECT_NE(emission.sources[1].code.find("kReduces = true, kRowResident = false, kTma = true"), std::string::npos)
      << emission.sources[1].code;
  EXPECT_NE(emission.sources.back().code.find("reduction::corrected_squares("), std::string::npos)
      << emission.sources.back().code;
}

TEST(GemmRows, LieAlongWhatIsReduced) {
  const ir::Program program = reducing("output s : f32[N]", "s[n] = max[m](h[m,n])");
  const gemm::Problem problem = problem_of(program);
  EXPECT_EQ(program.tensor(problem.product.a.tensor).name, "w");
  ASSERT_TRUE(problem.epilogue.rows);
  EXPECT_EQ(problem.epilogue.rows->shape.row_count, 700);
  EXPECT_EQ(problem.epilogue.rows->parts, 32);
}

TEST(GemmRows, ResultsMayFollowFromSeveral) {
  const ir::Program program =
      reducing("output s : f32[M]\noutput t : f32[M]", "s[m] = sum[n](h[m,n])\nt[m] = max[n](h[m,n]) * s[m]");
  EXPECT_EQ(problem_of(program).epilogue.rows->reductions.size(), 2u);
}

TEST(GemmRows, WhatIsRefusedIsNamed) {
  const std::string both =
      rows_refusal("output s : f32[M]\noutput t : f32[N]", "s[m] = sum[n](h[m,n])\nt[n] = sum[m](h[m,n])");
  EXPECT_TRUE(holds(both, "`t` reduces along other indices")) << both;
  const std::string all = rows_refusal("output s : f32[1]", "s[i] = sum[m,n](h[m,n]) for i<1");
  EXPECT_TRUE(holds(all, "an epilogue reduces along all of its rows or all of its columns")) << all;
  const std::string place = rows_refusal("output s : i64[M]", "s[m] = argmax[n](h[m,n])");
  EXPECT_TRUE(holds(place, "arg-reduction")) << place;
  const std::string some = rows_refusal("output s : f32[M]", "s[m] = sum[n where n < 9](h[m,n])");
  EXPECT_TRUE(holds(some, "a reduction under a condition")) << some;
  const std::string columns = rows_refusal("output h : f32[M, N]\noutput s : f32[N]", "s[n] = sum[m](h[m,n])");
  EXPECT_TRUE(holds(columns, "stored by rows and reduced along its columns")) << columns;
}

TEST(GemmRows, OfTwoSumsAreRefused) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(R"(
program gate
input x : f32[512, 256]
input w : f32[384, 256]
input v : f32[384, 256]
output s : f32[512]

kernel up by gemm() {
y[m,n] = silu(sum[k](x[m,k] * w[n,k])) * sum[k](x[m,k] * v[n,k])
s[m] = sum[n](y[m,n])
}
)",
                                        "test.ucut", diagnostics);
  ASSERT_TRUE(program.ok()) << program.error().text();
  const auto problem = gemm::make_problem(*program, program->kernels.front());
  ASSERT_FALSE(problem.ok());
  EXPECT_NE(problem.error().text().find("`s` reduces over the result of two sums of products"), std::string::npos)
      << problem.error().text();
}

// A product of equal extents is no reduction of rows, whatever is reduced of it.
TEST(GemmRows, OfASquareProductAreNotThoseOfAnOperand) {
  const ir::Program program = reducing("output s : f32[M]", "s[m] = max[n](h[m,n])", "", {256, 256, 256});
  EXPECT_TRUE(find_family("gemm")->match(program, program.kernels.front()).ok);
  for (const char* family : {"rows", "reduce"}) {
    const Match match = find_family(family)->match(program, program.kernels.front());
    EXPECT_FALSE(match.ok) << family;
    EXPECT_NE(match.reason.find("what another reduction depends on"), std::string::npos) << match.reason;
  }
}

TEST(GemmRows, AreNotTakenFromStreams) {
  const ir::Program streamed =
      reducing("output s : f32[M]", "s[m] = sum[n](h[m,n])", "math=fp16x3, stream=columns", {16, 4096, 4096});
  const Diagnostics diagnostics = diagnostics_of(streamed);
  ASSERT_FALSE(diagnostics.all().empty());
  EXPECT_EQ(diagnostics.all().front().code, "E117");
  EXPECT_NE(diagnostics.all().front().message.find("legal: none"), std::string::npos)
      << diagnostics.all().front().message;
  // Left to the family, they are not streamed.
  for (const int m : {1, 16, 200}) {
    const ir::Program usual = reducing("output s : f32[M]", "s[m] = sum[n](h[m,n])", "", {m, 4096, 4096});
    EXPECT_EQ(emission_of(usual).steps.back().name, "up-fold") << m;
    const gemm::Settings s = gemm::settings_of({usual, h200()}, usual.kernels.front(), problem_of(usual));
    EXPECT_EQ(s.stream, gemm::Streamed::kNone) << m;
  }
}

}  // namespace
}  // namespace solstice::families::of_gemm
