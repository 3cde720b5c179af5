// Files in pieces.
#include "codesearch/chunks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace solstice::codesearch {
namespace {

std::string outline(std::string_view text, Language language = Language::kCpp) {
  std::string out;
  for (const Chunk& chunk : cut_file(text, language).chunks)
    out += fmt::format("{}-{} {}\n", chunk.first, chunk.last, chunk.title);
  return out;
}

TEST(Chunks, ADeclarationHasItsComment) {
  const std::string text =
      "// Copyright (c) a company\n"
      "// all rights\n"
      "\n"
      "/*! \\file\n    \\brief Copies by the copy engine\n*/\n"
      "#pragma once\n"
      "#include <cstdint>\n"
      "namespace cute {\n"
      "\n"
      "// Loads a box.\n"
      "template <class T, int N = 3>\n"
      "struct SM90_TMA_LOAD<T, N> : Base {\n"
      "  void copy(int x) { x = '}'; }\n"
      "};\n"
      "\n"
      "/// Prints \"}\".\n"
      "inline void print(char const* text) {\n"
      "  puts(\"}\");\n"
      "}\n"
      "#define CUTE_UNROLL _Pragma(\"unroll\")\n"
      "}  // namespace cute\n";
  EXPECT_EQ(outline(text),
            "4-7 \n8-9 \n"
            "11-15 struct SM90_TMA_LOAD<T, N> : Base\n"
            "17-20 print()\n"
            "21-22 #define CUTE_UNROLL\n");
  const ChunkedFile file = cut_file(text, Language::kCpp);
  EXPECT_NE(file.brief.find("Copies by the copy engine"), std::string::npos);
  EXPECT_EQ(file.brief.find("Copyright"), std::string::npos);
  EXPECT_EQ(file.chunks[2].notes, "// Loads a box.\n");
}

TEST(Chunks, BranchesOfTheirOwnBracesDoNotAddUp) {
  EXPECT_EQ(outline("#if defined(A)\nstruct X {\n#else\nstruct Y {\n#endif\n  int value;\n};\n\n\nvoid behind() {\n  "
                    "call();\n  call();\n  call();\n}\n"),
            "1-7 struct X\n10-14 behind()\n");
}

TEST(Chunks, LongTypesAreCutAtTheirMembers) {
  std::string text = "class Pipeline {\n public:\n";
  for (int i = 0; i < 20; ++i)
    text += fmt::format("\n  // Waits.\n  void wait_{}() {{\n    spin();\n    spin();\n  }}\n", i);
  text += "};\n";
  const ChunkedFile file = cut_file(text, Language::kCpp);
  ASSERT_GT(file.chunks.size(), 20U);
  EXPECT_EQ(file.chunks[1].title, "class Pipeline::wait_0()");
  for (const Chunk& chunk : file.chunks) EXPECT_LE(chunk.last - chunk.first + 1, kMostLines);
}

TEST(Chunks, CallsAreNoTitles) {
  std::string text = "void run(int n) {\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("  call_{}(n);\n", i);
  text += "}\n";
  for (const Chunk& chunk : cut_file(text, Language::kCpp).chunks) EXPECT_EQ(chunk.title, "run()");
}

TEST(Chunks, EveryLineOfATextWithoutStructureIsCovered) {
  for (const char* line : {"1, 2, 3,\n", "{{{\n", "}}}\n", "\"\n", "/* \n", "#if 1\n", "a\\\n"}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += std::string("x") + line;
    int next = 1;
    for (const Chunk& chunk : cut_file(text, Language::kCpp).chunks) {
      EXPECT_EQ(chunk.first, next) << line;
      EXPECT_LE(chunk.last - chunk.first + 1, kMostLines) << line;
      next = chunk.last + 1;
    }
    EXPECT_EQ(next, 1001) << line;
  }
}

TEST(Chunks, OtherLanguagesHaveTheirOwnCuts) {
  EXPECT_EQ(outline("import x\n\n@wraps\ndef f():\n    pass\n\nclass A(B):\n    pass\n", Language::kPython),
            "1-2 \n3-6 @wraps\n7-8 class A\n");
  EXPECT_EQ(outline("# One\ntext\n## Two\ntext\n", Language::kMarkdown), "1-2 One\n3-4 Two\n");
  EXPECT_EQ(outline("program moe\n\nkernel a by map() {\n}\n", Language::kText), "1-4 program moe\n");
  EXPECT_EQ(outline("", Language::kCpp), "");
}

}  // namespace
}  // namespace solstice::codesearch
