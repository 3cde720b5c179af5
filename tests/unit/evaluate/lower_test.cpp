// Names in a plan: what kernels bring beside their main launches has names of its own.
#include "evaluate/lower.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ir/bind.h"
#include "machine/machine.h"

namespace solstice::evaluate {
namespace {

Result<Lowered> lowered(const std::string& text) {
  Diagnostics diagnostics;
  SOLSTICE_TRY(const ir::Program program, ir::load_program(text, "names.ucut", diagnostics));
  SOLSTICE_TRY(const machine::Machine h200, machine::load_machine("h200"));
  return lower({program, h200});
}

std::set<std::string> module_names(const Lowered& lowered) {
  std::set<std::string> out;
  for (const PlanModule& module : lowered.plan.modules) out.insert(module.name);
  return out;
}

TEST(Lower, KernelsMayBeNamedAsAnothersPassesAre) {
  const auto found = lowered(R"(program names
dim N = 256
input a : f32[N, N]
output x : f32[N, N]
output y : f32[N, N]
kernel up by gemm(math=fp16x3, stream=none, tile=128x128) {
  x[m,n] = sum[k](a[m,k] * a[n,k])
}
kernel up_split by gemm(math=fp16x3, stream=none, tile=128x128) {
  y[m,n] = sum[k](a[m,k] * a[k,n])
}
)");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(module_names(*found), (std::set<std::string>{"up", "up-split", "up-fallback", "up_split", "up_split-split",
                                                         "up_split-fallback"}));
}

TEST(Lower, SoMayAnInstancesKernels) {
  const auto found = lowered(R"(program names
dim N = 256
def product(a : f32[N, N]) -> z : f32[N, N] {
  kernel split by gemm(math=fp16x3, stream=none, tile=128x128) {
    z[m,n] = sum[k](a[m,k] * a[n,k])
  }
}
input a : f32[N, N]
tensor t : f32[N, N]
output y : f32[N, N]
t = product(a) at "up"
kernel up by gemm(math=fp16x3, stream=none, tile=128x128) {
  y[m,n] = sum[k](t[m,k] * a[k,n])
}
)");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(module_names(*found), (std::set<std::string>{"up", "up-split", "up-fallback", "up.split", "up.split-split",
                                                         "up.split-fallback"}));
}

// Calls may find the workspace as they left it, but for what was filled at load.
TEST(Lower, WhatIsFilledOnceStays) {
  const auto found = lowered(R"(program packed
dim N = 8
allow frozen
param w : f32[N] "w"
input x : f32[N]
tensor t : f32[N]
tensor u : f32[N]
output y : f32[N]
kernel pack once by map() {
  t[i] = 2 * w[i]
}
kernel up by map() {
  u[i] = x[i] + 1
}
kernel both by map() {
  y[i] = t[i] * u[i]
}
)");
  ASSERT_TRUE(found.ok()) << found.error().text();
  std::set<std::string> kept;
  for (const PlanBuffer& buffer : found->plan.buffers) {
    if (buffer.persistent) kept.insert(buffer.name);
  }
  EXPECT_EQ(kept, std::set<std::string>{"t"});
}

std::string two_maps(const std::string& first, const std::string& second,
                     const std::string& dims = "dim N = 1024, M = 1024") {
  return "program alike\n" + dims + R"(
input a : f32[N]
input x : f32[N]
input b : f32[M]
input q : f32[M]
output y : f32[N]
output z : f32[M]
kernel up by map() {
  y[i] = )" +
         first + R"(
}
kernel down by map() {
  z[i] = )" +
         second + "\n}\n";
}

std::vector<std::string> arguments_of(const Step& step) {
  std::vector<std::string> out;
  for (const Argument& argument : step.arguments) out.push_back(argument.buffer);
  return out;
}

// The runner clears more before launches of such code.
TEST(Lower, ModulesOfGivenCodeAreMarked) {
  const auto found = lowered(R"(program mixed
dim N = 1024
input x : f32[N]
tensor t : f32[N]
output y : f32[N]
kernel own by map { t[n] = 2 * x[n] }
kernel given by cuda("k.cu", entry="twice", args=(t, y), grid=N//256, block=256) { y[n] = 2 * t[n] }
source "k.cu" """
extern "C" __global__ void twice(const float* t, float* y) {)"
                             R"( y[blockIdx.x * 256 + threadIdx.x] = 2 * t[blockIdx.x * 256 + threadIdx.x]; }
"""
)");
  ASSERT_TRUE(found.ok()) << found.error().text();
  ASSERT_EQ(found->plan.modules.size(), 2u);
  EXPECT_FALSE(found->plan.modules[0].given);
  EXPECT_TRUE(found->plan.modules[1].given);
}

TEST(Lower, KernelsThatDifferInNamesShareAModule) {
  const auto found = lowered(two_maps("a[i] * x[i] + a[i]", "b[i] * q[i] + b[i]"));
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(module_names(*found), std::set<std::string>{"up"});
  ASSERT_EQ(found->sources.size(), 1U);
  ASSERT_EQ(found->plan.steps.size(), 2U);
  const Step &up = found->plan.steps[0], &down = found->plan.steps[1];
  EXPECT_EQ(up.name, "up");
  EXPECT_EQ(down.name, "down");
  EXPECT_EQ(down.module, "up");
  EXPECT_EQ(down.entry, up.entry);
  EXPECT_EQ(down.grid, up.grid);
  EXPECT_EQ(arguments_of(up), (std::vector<std::string>{"a", "x", "y"}));
  EXPECT_EQ(arguments_of(down), (std::vector<std::string>{"b", "q", "z"}));
}

TEST(Lower, KernelsThatDifferOtherwiseDoNot) {
  const std::string a = "a[i] * x[i] + 1", dims = "dim N = 1024, M = ";
  for (const auto& [program, modules] :
       std::map<std::string, size_t>{{two_maps(a, "b[i] * q[i] + 1"), 1},
                                     {two_maps(a, "b[i] * q[i] + 2"), 2},
                                     {two_maps(a, "b[i] * q[i] - 1"), 2},
                                     {two_maps(a, "b[i] * b[i] + 1"), 2},
                                     {two_maps(a, "b[i] * q[i] + 1", dims + "2048"), 2},
                                     {two_maps("a[i] + x[i] / a[i]", "b[i] + q[i] / q[i]"), 2}}) {
    const auto found = lowered(program);
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_EQ(found->plan.modules.size(), modules) << program;
  }
}

// Each of a kernel's launches goes to the module of the launch that it is like.
TEST(Lower, EveryLaunchOfARepeatedProductIsShared) {
  const auto found = lowered(R"(program chain
dim N = 1024
param w1 : f32[N, N] "a"
param w2 : f32[N, N] "b"
param b1 : f32[N] "c"
param b2 : f32[N] "d"
input x : f32[N, N]
tensor t : f32[N, N]
output y : f32[N, N]
kernel first by gemm(math=fp16x3, stream=none, tile=128x128) {
  t[m,n] = sum[k](x[m,k] * w1[n,k]) + b1[n]
}
kernel second by gemm(math=fp16x3, stream=none, tile=128x128) {
  y[m,n] = sum[k](t[m,k] * w2[n,k]) + b2[n]
}
)");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(module_names(*found), (std::set<std::string>{"first", "first-split", "first-fallback"}));
  std::map<std::string, std::string> modules;
  for (const Step& step : found->plan.steps) {
    if (step.kind == StepKind::kLaunch) modules[step.name] = step.module;
  }
  EXPECT_EQ(modules, (std::map<std::string, std::string>{{"first", "first"},
                                                         {"first-split", "first-split"},
                                                         {"first-fallback", "first-fallback"},
                                                         {"second", "first"},
                                                         {"second-split", "first-split"},
                                                         {"second-fallback", "first-fallback"}}));
}

}  // namespace
}  // namespace solstice::evaluate
