// What a clause of `by cuda` becomes: one source, one launch, its arguments.
#include <gtest/gtest.h>

#include "unit/families/h200.h"
#include "unit/families/text_program.h"

namespace solstice::families {
namespace {

const Family& cuda_family() { return *find_family("cuda"); }

Emission emitted(const ir::Program& program, size_t kernel = 0) {
  Result<Emission> out = cuda_family().generate({program, h200()}, program.kernels.at(kernel));
  EXPECT_TRUE(out.ok()) << out.error().text();
  return out.ok() ? std::move(out).value() : Emission{};
}

std::string with_source(const std::string& items) {
  return "program p\n" + items + "\nsource \"k.cu\" \"\"\"\nint a;\n\"\"\"\n";
}

TEST(Cuda, OneSourceAndOneLaunch) {
  const ir::Program program =
      load_text(with_source("dim M = 512, N = 64\ninput x : f32[M, N]\noutput y : bf16[M, N]\n"
                            "kernel k by cuda(\"k.cu\", entry=\"f\", args=(y, x, N, 7, M//2), grid=(M//128, 2), "
                            "block=(32, 4), cluster=(2, 1), smem=4*N) {\n"
                            "  z[m,n] = 2*x[m,n]\n  y[m,n] = z[m,n] + 1\n}"));
  const Emission out = emitted(program);
  ASSERT_EQ(out.sources.size(), 1U);
  EXPECT_EQ(out.sources[0].name, "k");
  EXPECT_EQ(out.sources[0].file, "k.cu");
  EXPECT_EQ(out.sources[0].code, "int a;\n");
  EXPECT_TRUE(out.workspace.empty());
  ASSERT_EQ(out.steps.size(), 1U);
  const Step& step = out.steps[0];
  EXPECT_EQ(step.module, "k");
  EXPECT_EQ(step.entry, "f");
  EXPECT_EQ(step.grid, (std::array<int64_t, 3>{4, 2, 1}));
  EXPECT_EQ(step.block, (std::array<int64_t, 3>{32, 4, 1}));
  EXPECT_EQ(step.cluster, (std::array<int64_t, 3>{2, 1, 1}));
  EXPECT_EQ(step.shared_bytes, 256);
  ASSERT_EQ(step.arguments.size(), 5U);
  EXPECT_EQ(step.arguments[0].buffer, "y");
  EXPECT_EQ(step.arguments[1].buffer, "x");
  for (const auto& [argument, value] : {std::pair{2, 64}, {3, 7}, {4, 256}}) {
    EXPECT_EQ(step.arguments[static_cast<size_t>(argument)].kind, ArgumentKind::kI64);
    EXPECT_EQ(step.arguments[static_cast<size_t>(argument)].integer, value);
  }
}

TEST(Cuda, ViewsBeginWhereTheyTakeTheirFirstElement) {
  const ir::Program program =
      load_text(with_source("dim M = 8, N = 64\ninput x : f16[M, N]\noutput y : f16[M, N]\n"
                            "view right[m,n] = x[m, n+32] for n<32\nview odd[n,m] = x[2*m+1, n] for m<4\n"
                            "kernel k by cuda(\"k.cu\", entry=\"f\", args=(right, odd, y), grid=1, block=32) {\n"
                            "  y[m,n] = x[m,n] + right[m,n%32] + odd[n, m//2]\n}"));
  // A tensor is passed once by its name; two views of one are two names.
  const Emission out = emitted(program);
  ASSERT_EQ(out.steps.at(0).arguments.size(), 3U);
  EXPECT_EQ(out.steps[0].arguments[0].buffer, "x");
  EXPECT_EQ(out.steps[0].arguments[0].offset, 2 * 32);
  EXPECT_EQ(out.steps[0].arguments[1].offset, 2 * 64);
}

TEST(Cuda, FixedLeadingIndicesOfACallAreAnOffset) {
  const ir::Program program = load_text(
      with_source("def half(x : f32[N]) -> y : f32[N] {\n"
                  "  kernel k by cuda(\"k.cu\", entry=\"f\", args=(x, y, N), grid=1, block=32) { y[n] = x[n] }\n}\n"
                  "input h : f32[3, 16]\noutput y : f32[16]\ny = half(h[2])"));
  const Emission out = emitted(program);
  EXPECT_EQ(out.steps.at(0).arguments.at(0).buffer, "h");
  EXPECT_EQ(out.steps[0].arguments[0].offset, 4 * 32);
  EXPECT_EQ(out.steps[0].arguments[2].integer, 16);
}

TEST(Cuda, DescriptorsHaveTheSmallestStrideFirst) {
  const ir::Program program = load_text(with_source(
      "dim B = 3, M = 256, N = 64\ninput x : f16[B, M, N]\ninput t : f32[M, N] order(1, 0)\noutput y : f32[B, M, N]\n"
      "view tail[b,m,n] = x[b, m+16, n+32] for m<240, n<32\n"
      "kernel k by cuda(\"k.cu\", entry=\"f\", args=(tail, t, y), grid=1, block=128, "
      "tma=(tail(box=1x64x32, swizzle=64), t(box=32x16))) {\n"
      "  y[b,m,n] = x[b,m,n] + t[m,n]\n}"));
  const Emission out = emitted(program);
  const Argument& tail = out.steps.at(0).arguments.at(0);
  ASSERT_EQ(tail.kind, ArgumentKind::kTensorMap);
  EXPECT_EQ(tail.map.buffer, "x");
  EXPECT_EQ(tail.map.offset, 2 * (16 * 64 + 32));
  EXPECT_EQ(tail.map.extents, (std::vector<int64_t>{32, 240, 3}));
  EXPECT_EQ(tail.map.strides, (std::vector<int64_t>{128, 2 * 256 * 64}));
  EXPECT_EQ(tail.map.box, (std::vector<int64_t>{32, 64, 1}));
  EXPECT_EQ(tail.map.swizzle, 64);
  const Argument& t = out.steps[0].arguments[1];
  EXPECT_EQ(t.map.extents, (std::vector<int64_t>{256, 64}));
  EXPECT_EQ(t.map.strides, std::vector<int64_t>{4 * 256});
  EXPECT_EQ(t.map.box, (std::vector<int64_t>{32, 16}));
  EXPECT_EQ(out.steps[0].arguments[2].kind, ArgumentKind::kPointer);
}

std::string said_of_tma(const std::string& tma) {
  const ir::Program program = load_text(
      with_source("dim M = 256, N = 30\ninput x : f32[M, N]\ninput w : f32[M, 64]\noutput y : f32[M]\n"
                  "view second[m,n] = w[m, 2*n] for n<32\nview late[m,n] = w[m, n+1] for n<32\n"
                  "kernel k by cuda(\"k.cu\", entry=\"f\", args=(x, w, second, late, y), grid=1, block=128, tma=" +
                  tma + ") { y[m] = x[m,0] + w[m,0] + second[m,0] + late[m,0] }"));
  Diagnostics diagnostics;
  cuda_family().check({program, h200()}, program.kernels.at(0), diagnostics);
  return diagnostics.size() == 0 ? "" : diagnostics.all()[0].message;
}

TEST(Cuda, WhatNoDescriptorHoldsIsSaid) {
  EXPECT_EQ(said_of_tma("w(box=64x32, swizzle=128)"), "");
  EXPECT_NE(said_of_tma("w(box=64)").find("2 dimensions and its box 1"), std::string::npos);
  EXPECT_NE(said_of_tma("w(box=64x3)").find("12 bytes along its innermost dimension"), std::string::npos);
  EXPECT_NE(said_of_tma("w(box=64x64, swizzle=128)").find("more than `swizzle=128`"), std::string::npos);
  EXPECT_NE(said_of_tma("w(box=64x32, swizzle=100)").find("none, 32, 64 or 128"), std::string::npos);
  EXPECT_NE(said_of_tma("x(box=64x4)").find("stride of 120 bytes"), std::string::npos);
  EXPECT_NE(said_of_tma("second(box=64x4)").find("the smallest stride is 2"), std::string::npos);
  EXPECT_NE(said_of_tma("late(box=64x4)").find("begins 4 bytes into its tensor"), std::string::npos);
}

// A lower limit: what the equations read and write, once, and a launch.
TEST(Cuda, CostIsItsBytes) {
  const ir::Program program = load_text(with_source(
      "dim M = 4096, N = 4096\ninput x : f32[M, N]\ninput id : i64[16]\noutput y : f32[16, N]\n"
      "kernel k by cuda(\"k.cu\", entry=\"f\", args=(x, id, y), grid=1, block=128) { y[i,n] = x[id[i],n] }"));
  const Result<Cost> cost = cuda_family().cost({program, h200()}, program.kernels.at(0));
  ASSERT_TRUE(cost.ok()) << cost.error().text();
  EXPECT_LE(cost->traffic.value, 16 * 8 + 2 * 16 * 4096 * 4);
  EXPECT_GE(cost->traffic.value, 16 * 8 + 16 * 4096 * 4);
  EXPECT_GT(cost->time.value, 0);
}

TEST(Cuda, NoExpertChoosesIt) { EXPECT_EQ(cuda_family().propose, nullptr); }

}  // namespace
}  // namespace solstice::families
