// Operands that elementwise equations make: what is recognised, refused and emitted. What kernels compute is checked on
// a GPU (property/kernels/gemm.cpp).
#include "families/gemm/prologue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "families/gemm/cost.h"
#include "families/gemm/problem.h"
#include "ir/bind.h"
#include "machine/machine.h"
#include "unit/families/h200.h"

namespace solstice::families::of_prologues {
namespace {

struct Text {
  std::string x = "input x : f32[M, K]", w = "input w : f32[N, K]", more = "", knobs = "", equations = "";
};

ir::Program program_of(const Text& t) {
  Diagnostics diagnostics;
  auto program = ir::load_program(fmt::format("program p\ndim M = 300, N = 200, K = 512\n{}\n{}\n{}\noutput y : f32[M, "
                                              "N]\nkernel up by gemm({}) {{\n{}\n}}\n",
                                              t.x, t.w, t.more, t.knobs, t.equations),
                                  "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? *std::move(program) : ir::Program{};
}

ir::Program made(const std::string& element, Text t = {}) {
  t.equations = fmt::format("a[m,k] = {}\ny[m,n] = sum[k](a[m,k] * w[n,k])", element);
  return program_of(t);
}

const ir::Kernel& kernel_of(const ir::Program& program) { return program.kernels.back(); }

Emission emission_of(const ir::Program& program, bool frozen = false) {
  auto emission = find_family("gemm")->generate({program, h200(), "reference", frozen}, kernel_of(program));
  EXPECT_TRUE(emission.ok()) << emission.error().text();
  return emission.ok() ? *std::move(emission) : Emission{};
}

std::string refusal_of(const ir::Program& program) {
  const Match match = find_family("gemm")->match(program, kernel_of(program));
  EXPECT_TRUE(!match.ok || !match.built);
  return match.reason;
}

std::string complaint_of(const ir::Program& program) {
  Diagnostics diagnostics;
  find_family("gemm")->check({program, h200()}, kernel_of(program), diagnostics);
  return diagnostics.all().empty() ? "" : diagnostics.all().front().message;
}

std::vector<std::string> names_of(const std::vector<Argument>& arguments) {
  std::vector<std::string> out;
  for (const Argument& argument : arguments) out.push_back(argument.buffer);
  return out;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Names = std::vector<std::string>;

TEST(GemmPrologue, IsComputedByTheSplitPassAndByTheFallback) {
  const Emission emission =
      emission_of(made("relu(x[m,k]*s[k] + t[m])", {.more = "input s : f32[K]\ninput t : f32[M]",
                                                    .knobs = "math=fp16x3, tile=128x128, stream=none"}));
  ASSERT_EQ(emission.steps.size(), 3U);
  EXPECT_EQ(names_of(emission.steps[0].arguments), (Names{"t", "x", "s", "up-planes_a", "up-scales_a", "up-guard_a",
                                                          "w", "up-planes_b", "up-scales_b", "up-guard_b"}));
  for (const size_t i : {0, 2}) {
    const std::string& code = emission.sources[i].code;
    EXPECT_TRUE(holds(code, "struct PrologueA {\nstatic constexpr bool kStored = false, kByK = true;")) << code;
    EXPECT_TRUE(holds(code, "load_neighbours<4>(s0, p_x + ")) << "x is read by vectors\n" << code;
    EXPECT_TRUE(holds(code, "load_neighbours<4>(s1, p_s + ")) << "and so is what lies along k\n" << code;
    EXPECT_TRUE(holds(code, "load_one(p_t + line)")) << code;
  }
  EXPECT_FALSE(holds(emission.sources[1].code, "PrologueA"));
}

TEST(GemmPrologue, MayStandInTheProduct) {
  const ir::Program program = program_of({.equations = "y[m,n] = sum[k](relu(x[m,k]) * (w[n,k] * 0.5))"});
  const auto problem = gemm::make_problem(program, kernel_of(program));
  ASSERT_TRUE(problem.ok()) << problem.error().text();
  EXPECT_TRUE(problem->product.a.made && problem->product.b.made);
  EXPECT_EQ(problem->product.a.line, 512);
  EXPECT_EQ(problem->product.a.dtype, DType::kF32);
}

TEST(GemmPrologue, FollowsTheMajorOrderOfItsMainRead) {
  const Emission emission = emission_of(made(
      "gelu(x[k,m])*s[k]",
      {.x = "input x : f32[K, M]", .more = "input s : f32[K]", .knobs = "math=fp16x3, tile=128x128, stream=none"}));
  EXPECT_TRUE(holds(emission.sources[0].code, "kStored = false, kByK = false;")) << emission.sources[0].code;
  EXPECT_TRUE(holds(emission.sources[0].code, "load_one(p_s + k)")) << emission.sources[0].code;
}

TEST(GemmPrologue, OfADeclaredOrCastFormatIsRoundedToIt) {
  const Text narrow = {
      .x = "input x : bf16[M, K]", .w = "input w : bf16[N, K]", .more = "input r : f32[M]\ntensor a : bf16[M, K]"};
  Text cast = narrow;
  cast.more = "input r : f32[M]";
  for (const ir::Program& program : {made("x[m,k]*r[m]", narrow), made("bf16(x[m,k]*r[m])", cast)}) {
    const Emission emission = emission_of(program);
    ASSERT_EQ(emission.steps.size(), 2U) << "B goes straight to the tensor cores";
    EXPECT_TRUE(holds(emission.sources[0].code, "gemm::split_operand<mainloop::Bf16,")) << emission.sources[0].code;
    EXPECT_EQ(names_of(emission.steps[0].arguments), (Names{"r", "x", "up-planes_a"}));
  }
  const auto exact = gemm::make_problem(made("x[m,k]*r[m]", cast), kernel_of(made("x[m,k]*r[m]", cast)));
  ASSERT_TRUE(exact.ok()) << exact.error().text();
  EXPECT_EQ(exact->product.a.dtype, DType::kF32) << "a local has no format: nothing says that it may be rounded";
}

TEST(GemmPrologue, OfWeightsAloneIsComputedAtLoad) {
  Text text = {.w = "param w : f32[N, K] \"w\"",
               .more = "param s : f32[N] \"s\"\ninput t : f32[N]",
               .knobs = "math=fp16x3, tile=128x128, stream=none"};
  text.equations = "y[m,n] = sum[k](x[m,k] * (w[n,k]*s[n]))";
  EXPECT_EQ(emission_of(program_of(text), true).steps.front().phase, Phase::kPrepare);
  text.equations = "y[m,n] = sum[k](x[m,k] * (w[n,k]*t[n]))";
  EXPECT_EQ(emission_of(program_of(text), true).steps.front().phase, Phase::kLaunch);
}

TEST(GemmPrologue, IsHeldButNotStreamedByTensorCores) {
  const Text rows = {.knobs = "math=fp16x3, stream=rows"}, columns = {.knobs = "math=fp16x3, stream=columns"};
  EXPECT_EQ(complaint_of(made("relu(x[m,k])", rows)), "`stream=rows`: the kernel computes an operand from `x`");
  EXPECT_EQ(complaint_of(made("relu(x[m,k])", columns)), "");
  const Emission emission = emission_of(made("relu(x[m,k])", columns));
  ASSERT_EQ(emission.steps.size(), 3U);
  EXPECT_EQ(emission.steps[0].arguments.front().buffer, "x");
  EXPECT_EQ(emission.steps[1].arguments[1].buffer, "w");
}

TEST(GemmPrologue, SaysWhatIsNotBuilt) {
  const auto of = [](const std::string& element, const std::string& more = "") {
    return refusal_of(made(element, {.more = more}));
  };
  EXPECT_EQ(of("x[m,k] - max[j](x[m,j])"), "operand `a` reduces: a prologue works element by element");
  EXPECT_EQ(of("x[m,k]*d[k]", "input d : f64[K]"), "operand `a` reads `d`, which is f64: a prologue computes in f32");
  EXPECT_TRUE(
      holds(of("s[m]*t[k]", "input s : f32[M]\ninput t : f32[K]"), "no tensor that it reads has all of its indices"));
  const Text grouped = {.more = "input e : i32[M]\ninput u : f32[4, N, K]",
                        .equations = "y[m,n] = sum[k](relu(x[m,k]) * u[e[m],n,k])"};
  EXPECT_TRUE(holds(refusal_of(program_of(grouped)), "of a grouped product is computed in the same kernel"))
      << refusal_of(program_of(grouped));
  const Text dual = {
      .more = "input v : f32[N, K]",
      .equations = "a[m,k] = relu(x[m,k])\ny[m,n] = silu(sum[k](a[m,k] * w[n,k])) * sum[k](a[m,k] * v[n,k])"};
  EXPECT_TRUE(holds(refusal_of(program_of(dual)), "of which an operand is computed")) << refusal_of(program_of(dual));
  Text kept = {.more = "output a : f32[M, K]"};
  EXPECT_TRUE(holds(refusal_of(made("relu(x[m,k])", kept)), "`a` does not use the contraction"));
}

TEST(GemmPrologue, CostsWhatItReadsAndComputes) {
  const auto time_of = [](const std::string& element, const std::string& more) {
    const ir::Program program = made(element, {.more = more, .knobs = "math=fp16x3, tile=128x128, stream=none"});
    const auto cost = find_family("gemm")->cost({program, h200()}, kernel_of(program));
    EXPECT_TRUE(cost.ok()) << cost.error().text();
    return cost.ok() ? cost->time.value : 0;
  };
  EXPECT_LT(time_of("relu(x[m,k])", ""), time_of("x[m,k]*g[m,k]", "input g : f32[M, K]"));
}

}  // namespace
}  // namespace solstice::families::of_prologues
