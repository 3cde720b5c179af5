#include "agents/prompts.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace solstice::agents {
namespace {

Result<Prompts> with(const TempFolder& folder, const std::string& text) {
  EXPECT_TRUE(write_file(folder.path() / "one.md", text).ok());
  return Prompts::load(folder.path());
}

TEST(Prompts, ValuesAreFilledInOnceAndMustFit) {
  const TempFolder folder = std::move(TempFolder::create("prompts")).value();
  const auto prompts = with(folder, "a {{first}} and {{second}}");
  ASSERT_TRUE(prompts.ok()) << prompts.error().text();
  EXPECT_EQ(*prompts->section("one", {{"first", "{{second}}"}, {"second", "2"}}), "a {{second}} and 2\n");
  EXPECT_EQ(prompts->section("one", {{"first", "1"}}).error().code, Code::internal);
  EXPECT_EQ(prompts->section("one", {{"first", "1"}, {"second", "2"}, {"third", "3"}}).error().code, Code::internal);
  EXPECT_EQ(prompts->section("two").error().code, Code::not_found);
}

TEST(Prompts, ALongSectionIsCutAtALineAndSaysSo) {
  const TempFolder folder = std::move(TempFolder::create("prompts")).value();
  const auto prompts = with(folder, "<!-- at most 10 tokens -->\nhead\n```\n{{body}}```\n");
  ASSERT_TRUE(prompts.ok()) << prompts.error().text();
  EXPECT_EQ(*prompts->section("one", {{"body", "x\n"}}), "head\n```\nx\n```\n");
  EXPECT_EQ(*prompts->section("one", {{"body", "line one\nline two\nline three\nline four\n"}}),
            "head\n```\nline one\nline two\n... (3 more lines left out)\n```\n");
}

TEST(Prompts, AFileThatIsNotWellFormedIsNamed) {
  const TempFolder folder = std::move(TempFolder::create("prompts")).value();
  for (const char* text : {"<!-- at most many tokens -->\n", "a {{Big}}", "a {{open", "{{}}"}) {
    const auto prompts = with(folder, text);
    ASSERT_FALSE(prompts.ok()) << text;
    EXPECT_EQ(prompts.error().code, Code::bad_argument);
    EXPECT_NE(prompts.error().text().find("one.md"), std::string::npos) << prompts.error().text();
  }
}

}  // namespace
}  // namespace solstice::agents
