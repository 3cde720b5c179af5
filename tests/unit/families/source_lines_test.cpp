// Lines of generated code say which equation and part of the kernel they are of.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/families/gemm/gemm_programs.h"

namespace solstice::families {
namespace {

// Of each line that holds a text.
std::vector<SourceLine> lines_with(const Source& source, std::string_view text) {
  std::vector<SourceLine> out;
  size_t number = 0;
  for (std::string_view rest = source.code; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    if (rest.substr(0, end).find(text) != std::string_view::npos) out.push_back(source.lines.at(number));
    rest.remove_prefix(end);
  }
  return out;
}

Source source_of(const std::string& text, size_t kernel = 0) {
  Diagnostics diagnostics;
  const auto program = ir::load_program(text, "p.ucut", diagnostics);
  EXPECT_TRUE(program.ok()) << program.error().text();
  if (!program.ok()) return {};
  const ir::Kernel& of = program->kernels.at(kernel);
  auto emission = find_family(of.family)->generate({*program, h200()}, of);
  EXPECT_TRUE(emission.ok()) << emission.error().text();
  return emission.ok() ? emission->sources.front() : Source{};
}

TEST(SourceLines, AProductIsOfItsSumAndItsEpilogueOfWhatFollows) {
  const ir::Program program =
      of_gemm::product_program("sum[k](x[m,k] * w[n,k])", "output y : f32[M, N]", "y[m,n] = erf(h[m,n] + b[n])",
                               "math=fp16x3, stream=none", {.m = 1024, .n = 512});
  const Emission emission = of_gemm::emission_of(program);
  for (const Source& source : emission.sources) {
    EXPECT_EQ(source.code.find("/*@"), std::string::npos) << source.name;
    EXPECT_EQ(source.lines.size(), static_cast<size_t>(std::count(source.code.begin(), source.code.end(), '\n')));
  }
  const auto up = std::find_if(emission.sources.begin(), emission.sources.end(),
                               [](const Source& source) { return source.name == "up"; });
  ASSERT_NE(up, emission.sources.end());
  EXPECT_EQ(lines_with(*up, "math::erf"), (std::vector<SourceLine>{{2, 0, ""}}));
  EXPECT_EQ(lines_with(*up, "gemm::run_tensor"), (std::vector<SourceLine>{{1, 2, ""}}));
}

TEST(SourceLines, LoadsAndStoresAreParts) {
  const Source source = source_of(
      "program p\ndim N = 4096\ninput x : f32[N, N]\noutput y : f32[N, N]\nkernel k by map() {\n  z[i,j] = "
      "exp(x[i,j])\n"
      "  y[i,j] = z[i,j] * z[i,j]\n}\n");
  EXPECT_EQ(lines_with(source, "= load<"), (std::vector<SourceLine>{{1, 0, "load"}}));
  EXPECT_EQ(lines_with(source, "exponential"), (std::vector<SourceLine>{{1, 0, ""}}));
  EXPECT_EQ(lines_with(source, "store<"), (std::vector<SourceLine>{{2, 0, "store"}}));
}

TEST(SourceLines, ReductionsAndScansAreOfTheirEquations) {
  const Source rows = source_of(
      "program p\ninput x : f32[512, 4096]\noutput y : f32[512]\nkernel k by rows(residency=once) {\n"
      "  m[i] = max[j](x[i,j])\n  y[i] = sum[j](exp(x[i,j] - m[i]))\n}\n");
  EXPECT_EQ(lines_with(rows, "collect<reduction::Max"), (std::vector<SourceLine>{{1, 0, ""}}));
  EXPECT_EQ(lines_with(rows, "collect<reduction::Sum"), (std::vector<SourceLine>{{2, 0, ""}}));
  const Source scan = source_of(
      "program p\ninput x : f32[64, 4096]\noutput y : f32[64, 4096]\nkernel k by scan() {\n"
      "  z[i,n] = sum[j where j <= n](x[i,j]) for n<4096\n  y[i,n] = tanh(z[i,n])\n}\n");
  EXPECT_EQ(lines_with(scan, "scan::tile<"), (std::vector<SourceLine>{{1, 0, "scan"}}));
}

// Numbers are those of the kernel: kernels alike, which share a module, have the same lines.
TEST(SourceLines, KernelsAlikeHaveLinesAlike) {
  const std::string text =
      "program p\ndim N = 4096\ninput x : f32[N, N]\noutput y : f32[N, N]\ntensor h : f32[N, N]\n"
      "kernel a by map() {\n  h[i,j] = exp(x[i,j])\n}\nkernel b by map() {\n  y[i,j] = exp(h[i,j])\n}\n";
  EXPECT_EQ(source_of(text, 0).lines, source_of(text, 1).lines);
}

}  // namespace
}  // namespace solstice::families
