#include "toolchain/includes.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace solstice::toolchain {
namespace {

std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> out;
  for (const Includes::Name& name : scan_includes(text).names) out.push_back(name.text);
  return out;
}

using Names = std::vector<std::string>;

TEST(ScanIncludes, FindsWhatThePreprocessorFinds) {
  EXPECT_EQ(names("#include \"a.h\"\n # \t include <b/c.h> // why\n"), (Names{"a.h", "b/c.h"}));
  EXPECT_EQ(names("#inc\\\nlude \"a.h\"\n"), (Names{"a.h"}));
  EXPECT_EQ(names("/* x */ # /* y */ include /* z */ \"a.h\""), (Names{"a.h"}));
  EXPECT_EQ(names("%:include \"a.h\""), (Names{"a.h"}));
  EXPECT_EQ(names("#if 0\n#include_next <a.h>\n#endif\n#embed \"b\"\n"), (Names{"a.h", "b"}));
  EXPECT_EQ(names("const char* s = \"/*\";\n#include \"a.h\"\n"), (Names{"a.h"}));
  EXPECT_EQ(names("const char* s = R\"x(/* \" )\" )x\";\n#include \"a.h\"\n"), (Names{"a.h"}));
  EXPECT_EQ(names("int n = 1'000; // it's\n#include \"a.h\"\n"), (Names{"a.h"}));
}

TEST(ScanIncludes, SkipsCommentsAndText) {
  EXPECT_EQ(names("// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\nx(\"#include\");\n#define include \"c.h\"\n"), Names{});
  EXPECT_EQ(names("// joined \\\n#include \"a.h\"\n"), Names{});
}

TEST(ScanIncludes, CountsLinesAcrossContinuations) {
  const Includes includes = scan_includes("a \\\n b\n\n#include \"x.h\"\n#include MACRO\n");
  ASSERT_EQ(includes.names.size(), 1U);
  EXPECT_EQ(includes.names[0].line, 4);
  EXPECT_EQ(includes.computed_line, 5);
}

class Closure : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) { ASSERT_TRUE(write_file(folder_.path() / name, text).ok()); }
  Result<IncludeClosure> of(const std::string& source) {
    return include_closure("k.cu", source, folder_.path() / "kernels", {folder_.path() / "cuda"});
  }
  TempFolder folder_ = TempFolder::create("includes").value();
};

TEST_F(Closure, FollowsHeadersToTheEnd) {
  put("kernels/a/a.h", "#include \"b/b.h\"\n#include <cmath>\n");
  put("kernels/b/b.h", "#include \"a/a.h\"\n#include <cuda_fp16.h>\n");
  put("cuda/cuda_fp16.h", "#include \"cuda_fp16.hpp\"\n#include COMPUTED\n");
  put("cuda/cuda_fp16.hpp", "");
  put("cuda/other.h", "");
  const IncludeClosure closure = of("#include \"a/a.h\"\n").value();
  EXPECT_EQ(closure.own.size(), 2U);
  EXPECT_EQ(closure.own.at("b/b.h"), "#include \"a/a.h\"\n#include <cuda_fp16.h>\n");
  EXPECT_EQ(closure.system.size(), 2U);
  EXPECT_EQ(closure.missing, std::set<std::string>{"cmath"});
}

TEST_F(Closure, RefusesWhatLeavesTheFolders) {
  put("kernels/a.h", "\n#include \"../secret.h\"\n");
  put("secret.h", "");
  const Result<IncludeClosure> nested = of("#include \"a.h\"\n");
  ASSERT_FALSE(nested.ok());
  EXPECT_EQ(nested.error().code, Code::bad_argument);
  EXPECT_EQ(nested.error().file, "a.h");
  EXPECT_EQ(nested.error().line, 2);
  EXPECT_FALSE(of("#include \"/etc/passwd\"\n").ok());
  EXPECT_FALSE(of("#include <cuda/../../secret.h>\n").ok());
  EXPECT_FALSE(of("#include MACRO\n").ok());
}

}  // namespace
}  // namespace solstice::toolchain
