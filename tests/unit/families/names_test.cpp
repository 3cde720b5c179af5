// A kernel's name in generated code: CUDA declares functions of its own (`norm`, `sin`, `round`).
#include "ir/bind.h"
#include "unit/families/expect.h"

namespace solstice::families {
namespace {

ir::Program with_kernel(const std::string& declarations, const std::string& kernel) {
  Diagnostics diagnostics;
  auto program = ir::load_program("program named\n" + declarations + kernel, "named.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return program.ok() ? *std::move(program) : ir::Program{};
}

// Every launch calls a function with the prefix that its module defines; steps and modules keep the kernel's own name.
void expect_prefixed(const ir::Program& program, const std::string& name, size_t launches) {
  machine::Machine machine = small_machine();
  machine.sm_count = 132;
  const ir::Kernel& kernel = program.kernels.front();
  const auto emission = find_family(kernel.family)->generate({program, machine}, kernel);
  ASSERT_TRUE(emission.ok()) << emission.error().text();
  EXPECT_EQ(emission->steps.size(), launches);
  for (const Step& step : emission->steps) {
    EXPECT_EQ(step.name.rfind(name, 0), 0U) << step.name;
    EXPECT_EQ(step.module.rfind(name, 0), 0U) << step.module;
    EXPECT_EQ(step.entry.rfind("solstice_" + name, 0), 0U) << step.entry;
    const auto source = std::find_if(emission->sources.begin(), emission->sources.end(),
                                     [&](const Source& s) { return s.name == step.module; });
    ASSERT_NE(source, emission->sources.end()) << step.module;
    EXPECT_NE(source->code.find(" " + step.entry + "("), std::string::npos) << source->code;
  }
}

TEST(Names, EntriesOfMap) {
  expect_prefixed(
      with_kernel("dim N = 64\ninput x : f32[N]\noutput y : f32[N]\n", "kernel sin by map() {\n  y[n] = 2 * x[n]\n}\n"),
      "sin", 1);
}

TEST(Names, EntriesOfRowsAndTheirFold) {
  const std::string data = "dim M = 1, N = 65536\ninput x : f32[M, N]\noutput y : f32[M]\n";
  expect_prefixed(with_kernel(data, "kernel norm by rows(parts=8) {\n  y[m] = sum[n](x[m,n])\n}\n"), "norm", 2);
}

TEST(Names, EntriesOfGemmAndItsPasses) {
  const std::string data =
      "dim M = 256, N = 256, K = 256\ninput a : f32[M, K]\ninput b : f32[N, K]\noutput y : f32[M, N]\n";
  const std::string product = " {\n  y[m,n] = sum[k](a[m,k] * b[n,k])\n}\n";
  expect_prefixed(with_kernel(data, "kernel round by gemm(math=fp16x3, stream=none, tile=128x128)" + product), "round",
                  3);
  expect_prefixed(with_kernel(data, "kernel round by gemm(math=simt, stream=none, tile=32x32)" + product), "round", 1);
}

}  // namespace
}  // namespace solstice::families
