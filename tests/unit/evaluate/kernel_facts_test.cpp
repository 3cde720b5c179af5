#include "evaluate/kernel_facts.h"

#include <gtest/gtest.h>

namespace solstice::evaluate {
namespace {

// Of one kernel over 4096 x 4096.
std::string chosen(const std::string& kernel) {
  const machine::Machine h200 = machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
  const std::string head = "program p\ndim N = 4096\ninput x : f32[N, N]\noutput y : f32[N, N]\n",
                    row = "output y : f32[N]\n";
  const bool reduces = kernel.find("y[n]") != kernel.npos;
  const std::string text = (reduces ? head.substr(0, head.find("output")) + row : head) + kernel;
  const Checked checked = check(text, {h200});
  EXPECT_TRUE(checked.ok()) << render_text(checked.diagnostics, text, "test");
  if (!checked.ok()) return "";
  const auto facts = facts_of_kernels(*checked.program, {h200});
  EXPECT_TRUE(facts.ok()) << (facts.ok() ? "" : facts.error().text());
  if (!facts.ok() || facts->size() != 1) return "";
  EXPECT_FALSE(facts->front().needs.empty());
  EXPECT_EQ(from_json<KernelFacts>(to_json(facts->front()))->chosen, facts->front().chosen);
  return facts->front().chosen;
}

TEST(KernelFacts, SayWhatEachFamilyChose) {
  EXPECT_EQ(chosen("kernel k by map() {\n  y[m,n] = x[m,n] + 1\n}\n"), "threads=128, vector=4, unroll=1, rows=1");
  EXPECT_EQ(chosen("kernel k by rows() {\n  y[m,n] = x[m,n] / sum[n](x[m,n])\n}\n"),
            "threads=128, vector=4, rows_per_block=1, residency=registers, blocks=2");
  EXPECT_EQ(chosen("kernel k by reduce() {\n  y[n] = sum[m](x[m,n])\n}\n"), "threads=256, vector=4, split=16");
  EXPECT_EQ(chosen("kernel k by reduce() {\n  y[n] = sum[m](x[n,m])\n}\n"), "threads=128, vector=4, split=1");
  EXPECT_EQ(chosen("kernel k by scan() {\n  y[m,n] = sum[j where j <= n](x[m,j])\n}\n"),
            "threads=256, items=16, vector=4, sharing=block, stages=0");
  EXPECT_EQ(chosen("kernel k by gemm() {\n  y[m,n] = sum[k](x[m,k] * x[k,n])\n}\n"),
            "math=fp16x3, tile=128x256x64, cluster=2x1, split=1, stages=2");
}

TEST(KernelFacts, WhatIsWrittenIsNoChoice) {
  EXPECT_EQ(chosen("kernel k by map(threads=128, vector=auto, unroll=2, rows=1) {\n  y[m,n] = x[m,n] + 1\n}\n"),
            "vector=4");
}

// Written out, they are the same schedule.
TEST(KernelFacts, ChoicesAreLegal) {
  for (const auto& [family, body] : {std::pair{"map", "y[m,n] = x[m,n] + 1"},
                                     {"rows", "y[m,n] = x[m,n] / sum[n](x[m,n])"},
                                     {"reduce", "y[n] = sum[m](x[m,n])"},
                                     {"scan", "y[m,n] = sum[j where j <= n](x[m,j])"},
                                     {"gemm", "y[m,n] = sum[k](x[m,k] * x[k,n])"}}) {
    const auto kernel = [&, name = family, equation = body](const std::string& knobs) {
      return "kernel k by " + std::string(name) + "(" + knobs + ") {\n  " + equation + "\n}\n";
    };
    EXPECT_EQ(chosen(kernel(chosen(kernel("")))), "") << family;
  }
}

}  // namespace
}  // namespace solstice::evaluate
