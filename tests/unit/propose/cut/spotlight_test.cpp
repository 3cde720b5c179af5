#include "propose/cut/spotlight.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "families/family.h"
#include "ir/bind.h"
#include "propose/cut/partition.h"

namespace solstice::propose {
namespace {

ir::Program program_of(const std::string& text) {
  Diagnostics diagnostics;
  Result<ir::Program> program = ir::load_program(text, "test.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << render_text(diagnostics, text, "test.ucut");
  return program.ok() ? std::move(*program) : ir::Program{};
}

// Layers of a product with its activation and a norm, each with its own weights and width; layer t has equations
// 3t - 2 to 3t.
ir::Program layers(int count) {
  std::string text = "program p\ndim B = 32\n", equations;
  for (int t = 0; t <= count; ++t) text += fmt::format("dim N{0} = {1}\n", t, 64 + 8 * t);
  for (int t = 1; t <= count; ++t) text += fmt::format("param w{0} : f32[N{0}, N{1}]\n", t, t - 1);
  text += fmt::format("input x : f32[B, N0]\noutput y : f32[B, N{0}]\nh0[b,n] = x[b,n]\n", count);
  for (int t = 1; t <= count; ++t) {
    text += fmt::format(
        "z{0}[b,n] = gelu(sum[k](h{1}[b,k] * w{0}[n,k]))\nm{0}[b] = mean[n](z{0}[b,n])\n"
        "h{0}[b,n] = z{0}[b,n] - m{0}[b]\n",
        t, t - 1);
  }
  return program_of(text + fmt::format("y[b,n] = h{}[b,n]\n", count));
}

std::vector<size_t> sizes_shown(const ir::Program& program, const std::vector<int>& equations) {
  const Dataflow flow(program);
  Spotlight light(program, flow);
  light.show(equations);
  return {light.program().equations.size(), light.program().tensors.size()};
}

// Families look through all equations and tensors of a program for each kernel.
TEST(Spotlight, ShowsAsMuchOfALongProgramAsOfAShortOne) {
  const std::vector<int> layer = {4, 5, 6};
  const std::vector<size_t> few = sizes_shown(layers(4), layer);
  EXPECT_EQ(few, sizes_shown(layers(64), layer));
  EXPECT_EQ(few, (std::vector<size_t>{4, 7})) << "and the product that reads them";
}

TEST(Spotlight, FamiliesSayTheSameOfTheWholeProgram) {
  const machine::Machine machine = machine::load_machine(SOLSTICE_SOURCE_DIR "/machines/h200.toml").value();
  const ir::Program problem = layers(6);
  const Result<Partition> cut = partition(problem, {machine});
  ASSERT_TRUE(cut.ok()) << cut.error().text();
  ir::Program whole = apply(problem, *cut);
  const ir::Program scheduled = whole;
  const Dataflow flow(scheduled);
  Spotlight light(scheduled, flow);
  for (ir::Kernel& kernel : whole.kernels) {
    light.show(kernel.equations);
    light.kernel().name = kernel.name;
    for (const families::Family* family : families::all_families()) {
      if (!family->available || !family->propose) continue;
      kernel.family = light.kernel().family = std::string(family->name);
      const families::Match here = family->match(whole, kernel), there = family->match(light.program(), light.kernel());
      EXPECT_EQ(here.reason, there.reason) << kernel.name;
      const auto time = family->cost({whole, machine}, kernel);
      const auto shown = family->cost({light.program(), machine}, light.kernel());
      ASSERT_EQ(time.ok(), shown.ok()) << kernel.name;
      if (time.ok()) {
        EXPECT_EQ(time->time, shown->time) << kernel.name;
      }
    }
  }
}

// Pieces of one tensor in two kernels, and a reader of them.
TEST(Spotlight, ShowsWhoElseWritesATensor) {
  const ir::Program program = program_of(R"(
program pieces
dim N = 1024
input  x : f32[N]
output y : f32[2, N]
output z : f32[N]
h[n] = tanh(x[n])
y[0,n] = exp(x[n])
y[1,n] = h[n] + 1
z[n] = y[0,n] + h[n]
)");
  const Dataflow flow(program);
  Spotlight light(program, flow);
  light.show({2});
  const ir::Program& shown = light.program();
  ASSERT_EQ(light.kernel().equations.size(), 1u);
  EXPECT_EQ(shown.target_of(shown.equation(light.kernel().equations.front())).name, "y");
  ASSERT_EQ(shown.equations.size(), 3u);
  EXPECT_EQ(shown.target_of(shown.equations[0]).name, "y");
  EXPECT_EQ(shown.target_of(shown.equations[2]).name, "z");
}

}  // namespace
}  // namespace solstice::propose
