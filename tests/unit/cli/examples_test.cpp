// The programs of examples/programs as a reader tries them.
#include <algorithm>

#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

const std::filesystem::path kPrograms = std::filesystem::path(SOLSTICE_SOURCE_DIR) / "examples/programs";

class ExamplesTest : public ProgramTest {
 protected:
  static std::vector<std::filesystem::path> programs() {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(kPrograms)) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }

  CommandOutput compile(const std::filesystem::path& program) {
    return run({"compile", program.string(), "--out", (folder_.path() / "plan").string()});
  }

  static bool lacks_compiler(const CommandOutput& done) {
    return done.err.find("error[no_compiler]") != std::string::npos;
  }
};

TEST_F(ExamplesTest, EachChecks) {
  ASSERT_EQ(programs().size(), 12U);
  for (const std::filesystem::path& program : programs()) {
    const CommandOutput done = run({"check", program.string()});
    EXPECT_EQ(done.exit.code, 0) << program << "\n" << done.err;
    EXPECT_EQ(done.err.find("error["), std::string::npos) << done.err;
  }
}

TEST_F(ExamplesTest, WhatIsNotBuiltIsANote) {
  const CommandOutput finish = run({"check", (kPrograms / "09_cross_entropy.ucut").string()});
  EXPECT_NE(finish.err.find("note[N100]: not yet: finish=last_block is not built yet"), std::string::npos)
      << finish.err;
  const CommandOutput moe = run({"check", (kPrograms / "11_moe.ucut").string()});
  EXPECT_EQ(moe.err.find("grouped"), std::string::npos) << moe.err;
  EXPECT_NE(moe.err.find("family `scan` does not sort yet"), std::string::npos) << moe.err;
  EXPECT_EQ(moe.err.find("closest:"), std::string::npos) << moe.err;
}

TEST_F(ExamplesTest, EachCompilesOrSaysWhatIsNotBuilt) {
  size_t compiled = 0;
  for (const std::filesystem::path& program : programs()) {
    SCOPED_TRACE(program.filename().string());
    const CommandOutput done = compile(program);
    if (lacks_compiler(done)) GTEST_SKIP() << done.err;
    compiled += done.exit.code == 0;
    if (done.exit.code == 0) continue;
    EXPECT_EQ(done.exit.code, 2) << done.err;
    const bool opaque = done.err.find("`aten.grid_sampler_2d` has no equations") != std::string::npos;
    EXPECT_TRUE(opaque || done.err.find("error[not_yet]") != std::string::npos) << done.err;
  }
  EXPECT_GE(compiled, 3U);
}

TEST_F(ExamplesTest, KernelsMayBeNamedAsCudasOwnFunctions) {
  for (const char* name : {"norm", "sin", "round", "main", "normf"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path program = folder_.path() / "named.ucut";
    const std::string text =
        std::string("program named\ntarget h200\ndim M = 64, N = 128\ninput x : f32[M, N]\noutput y : f32[M, N]\n") +
        "kernel " + name + " by map() {\n  y[m,n] = 2 * x[m,n] + 1\n}\n";
    ASSERT_TRUE(write_file(program, text).ok());
    const CommandOutput done = compile(program);
    if (lacks_compiler(done)) GTEST_SKIP() << done.err;
    EXPECT_EQ(done.exit.code, 0) << done.err;
  }
}

}  // namespace
}  // namespace solstice::cli
