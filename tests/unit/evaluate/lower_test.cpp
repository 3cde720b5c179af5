// Names in a plan: what kernels bring beside their main launches has names of its own.
#include "evaluate/lower.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(module_names(*found),
            (std::set<std::string>{"up", "up-split", "up-fallback", "up_split", "up_split-split", "up_split-fallback"}));
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
  EXPECT_EQ(module_names(*found),
            (std::set<std::string>{"up", "up-split", "up-fallback", "up.split", "up.split-split", "up.split-fallback"}));
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

}  // namespace
}  // namespace solstice::evaluate
