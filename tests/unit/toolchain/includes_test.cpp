#include "toolchain/includes.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  EXPECT_EQ(names("// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\nx(\"#include\");\n#define include \"c.h\"\n"),
            Names{});
  EXPECT_EQ(names("// joined \\\n#include \"a.h\"\n"), Names{});
}

TEST(ScanIncludes, CountsLinesAcrossContinuations) {
  const Includes includes = scan_includes("a \\\n b\n\n#include \"x.h\"\n#include MACRO\n");
  ASSERT_EQ(includes.names.size(), 1U);
  EXPECT_EQ(includes.names[0].line, 4);
  EXPECT_EQ(includes.flaw_line, 5);
}

// Each was tried with NVRTC 13.0, which reads the header.
TEST(ScanIncludes, FindsWhatALexerOfItsOwnWouldMiss) {
  const std::string reads = "\n#include \"/tmp/x\"\n";
  const std::vector<std::pair<const char*, std::string>> texts = {
      {"a comment of several lines in a directive", "# /*\n*/ include \"/tmp/x\"\n"},
      {"no blank", "#include\"/tmp/x\"\n"},
      {"a digraph over two lines", "%\\\n:include \"/tmp/x\"\n"},
      {"a continued line of CR LF", "#inc\\\r\nlude \"/tmp/x\"\r\n"},
      {"a macro that ends in R", "#define FOOR\nFOOR\"(\"" + reads + "\")\"\n"},
      {"a number that ends in R", "F(1.R\"(\")" + reads + "G(\")\")\n"},
      {"an exponent that ends in R", "F(1e+R\"(\")" + reads + "G(\")\")\n"},
      {"a name in letters beyond ASCII that ends in R", "#define \\u00e9R\n\\u00e9R\"(\"" + reads + "\")\"\n"},
      {"a suffix of text", "F(\"\"R\"(\")" + reads + "G(\")\")\n"},
      {"a suffix of a character", "F('a'R\"(\")" + reads + "G(\")\")\n"},
      {"a suffix of a raw string", "F(R\"()\"R\"(\")" + reads + "G(\")\")\n"},
      {"a separator of digits", "F(1'0 + \"' /*\")" + reads + "/* */\n"},
      {"a separator of what is no digit", "F(1'z \"' /*\")" + reads + "/* */\n"},
      {"a prefix over two lines", "F(R\\\n\"( \" /* )\")" + reads + "// */\n"},
      {"a longer prefix over two lines", "F(u\\\n8R\"( \" /* )\")" + reads + "// */\n"},
      {"an escape over two lines", "F(\"\\\\\nn\" \"/*\")" + reads + "// */\n"},
      {"a raw string in a directive", "#define F R\"( \" /* )\"" + reads + "// */\n"},
      {"an apostrophe in what is skipped", "#if 0\ndon't /*\n#endif" + reads + "// */\n"},
      {"a quote in a directive", "#define Q \" /*" + reads + "// */\n"},
      {"a question", "#if __has_include(\"/tmp/x\")\n"},
      {"a question by another name", "#define H __has_include\n#if H(\"/tmp/x\")\n"},
      {"a question over two lines", "#if __has_\\\ninclude(\"/tmp/x\")\n"},
      {"a question by a macro", "#define P \"/tmp/x\"\n#if __has_include(P)\n"},
  };
  for (const auto& [what, text] : texts) {
    const Names found = names(text);
    EXPECT_TRUE(std::count(found.begin(), found.end(), "/tmp/x") || scan_includes(text).flaw_line) << what;
  }
}

TEST(ScanIncludes, WhatCompilersReadDifferentlyIsAFlaw) {
  for (const char* text : {"A$R\"(\"\n", "\xC3\xA9R\"(\"\n", "#inc\\ \nlude \"a.h\"\n", "R\"a b( )a b\"\n",
                           "R\"12345678901234567( )12345678901234567\"\n", "R\"(\n"}) {
    EXPECT_EQ(scan_includes(text).flaw_line, 1) << text;
  }
  EXPECT_EQ(scan_includes("// \xC3\xA9 $\nf(\"\xC3\xA9\", R\"x($)x\", LR\"()\");  // \\ \n").flaw_line, 0);
  EXPECT_EQ(names("\xEF\xBB\xBF#include \"a.h\"\n"), Names{"a.h"});
}

TEST(ScanIncludes, KernelsAndTheirHeadersHaveNoFlaw) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SOLSTICE_SOURCE_DIR "/kernels")) {
    if (!entry.is_regular_file()) continue;
    const Includes includes = scan_includes(read_file(entry.path()).value());
    EXPECT_EQ(includes.flaw_line, 0) << entry.path() << ": " << includes.flaw;
  }
}

class Closure : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_.path() / name, text).ok());
  }
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
  EXPECT_FALSE(of("#if __has_include(\"/etc/passwd\")\n#endif\n").ok());
}

}  // namespace
}  // namespace solstice::toolchain
