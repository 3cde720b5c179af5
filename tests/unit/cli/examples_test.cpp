// The programs of examples/programs as a reader tries them, and kernel names.
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

class ExamplesTest : public ProgramTest {
 protected:
  CommandOutput compile(const std::filesystem::path& program) {
    return run({"compile", program.string(), "--out", (folder_.path() / "plan").string()});
  }

  static bool lacks_compiler(const CommandOutput& done) { return done.err.find("error[no_compiler]") != std::string::npos; }
};

TEST_F(ExamplesTest, KernelsMayBeNamedAsCudasOwnFunctions) {
  for (const char* name : {"norm", "sin", "round", "main", "normf"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path program = folder_.path() / "named.ucut";
    const std::string text = std::string("program named\ntarget h200\ndim M = 64, N = 128\ninput x : f32[M, N]\noutput y : f32[M, N]\n") +
                             "kernel " + name + " by map() {\n  y[m,n] = 2 * x[m,n] + 1\n}\n";
    ASSERT_TRUE(write_file(program, text).ok());
    const CommandOutput done = compile(program);
    if (lacks_compiler(done)) GTEST_SKIP() << done.err;
    EXPECT_EQ(done.exit.code, 0) << done.err;
  }
}

}  // namespace
}  // namespace solstice::cli
