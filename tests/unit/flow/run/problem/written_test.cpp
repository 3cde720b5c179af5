// A program in the place of a module: its equations, with and without kernels, and what is refused before a search.
#include "flow/run/problem/written.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "ir/equivalence.h"
#include "ir/rewrite/driver.h"
#include "lang/embed.h"

namespace solstice::flow {
namespace {

constexpr const char* kWrittenHead = "program p\ndim M = 8, N = 16\ninput x : f32[M, N]\noutput y : f32[M, N]\n";

std::string equations_below(const std::string& rest) { return kWrittenHead + rest; }

Error refused_program(const std::string& text) {
  const Result<Written> found = written_problem(text, "p.ucut");
  EXPECT_FALSE(found.ok());
  return found.ok() ? Error{} : found.error();
}

TEST(WrittenProblem, KeepsTheTextOfEquationsWithoutKernels) {
  const std::string text = equations_below("# twice\ny[m,n]  =  2*x[m,n]\n");
  const Result<Written> found = written_problem(text, "p.ucut");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->problem.imported.text, text);
  EXPECT_EQ(found->schedule, "");
  EXPECT_TRUE(found->problem.program.is_problem());
}

TEST(WrittenProblem, TakesTheEquationsOutOfKernels) {
  const std::string text = equations_below(
      "tensor t : f32[M, N]\n"
      "# the first\n"
      "kernel a by map() {\n  z[m,n] = 2*x[m,n]\n  t[m,n] = z[m,n] + 1\n}\n"
      "kernel b by map() {\n  z[m,n] = 3*t[m,n]\n  y[m,n] = exp(z[m,n])\n}\n");
  const Result<Written> found = written_problem(text, "p.ucut");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->schedule, text);
  const std::string& equations = found->problem.imported.text;
  EXPECT_EQ(equations.find("kernel"), std::string::npos) << equations;
  EXPECT_NE(equations.find("# the first\nz[m,n] = 2 * x[m,n]\n"), std::string::npos) << equations;
  EXPECT_NE(equations.find("b_z[m,n] = 3 * t[m,n]\ny[m,n] = exp(b_z[m,n])\n"), std::string::npos) << equations;
}

TEST(WrittenProblem, ASpaceOfSettingsIsNoSchedule) {
  const Result<Written> found = written_problem(
      equations_below("kernel a by rows(threads={128, 256}) {\n  y[m,n] = x[m,n] - max[n](x[m,n])\n}\n"), "p.ucut");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->schedule, "");
  EXPECT_EQ(found->untried, "it has sets of settings");
}

TEST(WrittenProblem, AnEquationInNoKernelIsLeftToTheSearch) {
  const Result<Written> found = written_problem(
      equations_below("tensor t : f32[M, N]\nt[m,n] = 2*x[m,n]\nkernel a by map() {\n  y[m,n] = t[m,n] + "
                      "1\n}\n"),
      "p.ucut");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->schedule, "");
  EXPECT_EQ(found->untried, "it has equations outside kernels");
}

TEST(WrittenProblem, WritesCallsOfDefinitionsOut) {
  const Result<Written> found = written_problem(
      equations_below(
          "def twice(a : f32[M, N]) -> b : f32[M, N] {\n  kernel k by map() {\n    b[m,n] = 2*a[m,n]\n  }\n}\n"
          "y = twice(x)\n"),
      "p.ucut");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(found->problem.imported.text.find("def"), std::string::npos) << found->problem.imported.text;
  EXPECT_EQ(found->problem.program.equations.size(), 1U);
}

// Every program of the examples is a problem, and stays the same one without its kernels.
TEST(WrittenProblem, ExamplesStayTheSame) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SOLSTICE_SOURCE_DIR "/examples/programs")) {
    SCOPED_TRACE(entry.path().filename().string());
    const Result<std::string> text = lang::read_program(entry.path());
    ASSERT_TRUE(text.ok());
    const Result<Written> found = written_problem(*text, entry.path().string());
    ASSERT_TRUE(found.ok()) << found.error().text();
    EXPECT_TRUE(found->problem.program.is_problem());
    const Result<ir::BoundText> given = ir::bound_text(*text, "given");
    ASSERT_TRUE(given.ok());
    const ir::Verdict verdict = ir::same_meaning(found->problem.tree, given->tree, {Seconds(2)}).verdict;
    const bool calls = found->untried.find("calls") != std::string::npos;  // parameters of definitions get other names
    EXPECT_TRUE(calls || verdict != ir::Verdict::kRefuted) << found->problem.imported.text;
    checked += verdict == ir::Verdict::kProved;
  }
  EXPECT_GE(checked, 8);
}

TEST(WrittenProblem, NamesEveryMistake) {
  const Error error = refused_program(equations_below("y[m,n] = x[m]\n"));
  EXPECT_EQ(error.code, Code::program_invalid);
  EXPECT_NE(error.listing.find("p.ucut:5:"), std::string::npos) << error.listing;
}

TEST(WrittenProblem, RefusesWhatNoKernelRunsYetWithItsPlace) {
  const Error error = refused_program(
      "program p\ndim M = 8\ninput x : f32[M]\noutput y : f32[M]\nnumerics budget(rel=1e-3)\n"
      "y[m] = x[m]\n");
  EXPECT_EQ(error.code, Code::not_yet);
  EXPECT_EQ(error.line, 5);
  EXPECT_FALSE(error.hint.empty());
}

TEST(WrittenProblem, TellsWhoeverHasNoModuleAnotherWayOut) {
  Error error = fail(Code::unsupported_operator, "no",
                     "PyTorch can run it: `solstice optimize` leaves such calls to "
                     "it, and optimises the parts of the module around them");
  error.offset = 10;
  const Error placed = in_program(error, "program p\ny[m] = x[m]\n", "p.ucut");
  EXPECT_EQ(placed.line, 2);
  EXPECT_EQ(placed.file, "p.ucut");
  EXPECT_NE(placed.hint.find("write it by other equations"), std::string::npos);
}

}  // namespace
}  // namespace solstice::flow
