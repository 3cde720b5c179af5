// What a language model sees of code search, and what it is told where it asks for what is not there.
#include "flow/run/agent/code_look.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "llm/ledger.h"

namespace solstice::flow {
namespace {

class CodeLookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text = "// Loads a box through the copy engine.\nvoid tma_load() {\n";
    for (int i = 0; i < 2000; ++i) text += "  load_a_line(" + std::to_string(i) + ");\n";
    ASSERT_TRUE(write_file(folder_.path() / "code/copy/tma.h", text + "}\n").ok());
    ASSERT_TRUE(write_file(folder_.path() / "secret.txt", "secret\n").ok());
  }
  std::string look(const std::string& query, int64_t most = 1500) {
    const auto found = look_(query, most);
    EXPECT_TRUE(found.ok()) << found.error().text();
    return found.ok() ? *found : "";
  }

  TempFolder folder_ = std::move(TempFolder::create("code-look-test-")).value();
  CodeLook look_{{.roots = {{"kernels", folder_.path() / "code"}},
                  .folder = folder_.path() / "index",
                  .store = folder_.path() / "home",
                  .say = {}}};
};

TEST_F(CodeLookTest, WordsAreSearchedForAndPlacesAreRead) {
  const std::string found = look("tensor memory accelerator");
  EXPECT_TRUE(found.starts_with("kernels/copy/tma.h:1-")) << found;
  EXPECT_NE(found.find("    2  void tma_load() {\n"), std::string::npos) << found;
  EXPECT_EQ(look("kernels/copy/tma.h:2-3"),
            "kernels/copy/tma.h:2-3 of 2003\n    2  void tma_load() {\n    3    "
            "load_a_line(0);\n");
}

TEST_F(CodeLookTest, ItHasALimitInTokens) {
  for (const int64_t most : {100, 400, 1500}) {
    const std::string found = look("kernels/copy/tma.h", most);
    EXPECT_LT(llm::estimated_tokens(found), 2 * most + 50) << "with the numbers of the lines";
    EXPECT_NE(found.find("(cut here; kernels/copy/tma.h:"), std::string::npos) << found;
  }
}

TEST_F(CodeLookTest, WhatIsNotThereIsToldToWhoeverAsked) {
  for (const char* place : {"../secret.txt", "kernels/../../secret.txt", "/etc/passwd", "kernels/copy/tmb.h:1-4",
                            "kernels/copy/tma.h:5000-6000", "kernels/copy/tma.h:9-2", "kernels/copy/tma.h:-1"}) {
    const std::string found = look(place);
    EXPECT_FALSE(found.empty()) << place;
    EXPECT_EQ(found.find("secret\n"), std::string::npos) << found;
    EXPECT_EQ(found.find("root:"), std::string::npos) << found;
  }
  EXPECT_NE(look("kernels/mma/tma.h:1-4").find("kernels/copy/tma.h"), std::string::npos) << "those of its name";
  EXPECT_NE(look("zzzzqqq").find("nothing was found"), std::string::npos);
  EXPECT_FALSE(look("?!").empty());
  EXPECT_FALSE(look(std::string(10'000, 'q') + " " + std::string(10'000, 'r')).empty());
}

TEST_F(CodeLookTest, AnIndexThatCannotBeWrittenIsAnErrorOfTheMachine) {
  CodeLook look({.roots = {{"kernels", folder_.path() / "code"}},
                 .folder = folder_.path() / "secret.txt",
                 .store = folder_.path() / "home",
                 .say = {}});
  EXPECT_FALSE(look("tma", 100).ok());
}

}  // namespace
}  // namespace solstice::flow
