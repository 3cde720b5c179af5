#include "base/result.h"

#include <gtest/gtest.h>

#include <set>

namespace solstice {
namespace {

Result<int> half(int v) {
  if (v % 2) return fail(Code::bad_argument, "odd");
  return v / 2;
}

Result<int> quarter(int v) {
  SOLSTICE_TRY(const int once, half(v));
  SOLSTICE_TRY(const int twice, half(once).context("while halving again"));
  return twice;
}

Status check_even(int v) {
  SOLSTICE_CHECK(half(v));
  return success();
}

TEST(Result, PassesValuesAndErrorsOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(3).error().message, "odd");
  ASSERT_EQ(quarter(6).error().context.size(), 1u);
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_FALSE(check_even(1).ok());
}

TEST(Error, TextHoldsPositionMessageAndContext) {
  Error error = fail(Code::module_import, "no class `Model`");
  error.file = "a.py";
  error.line = 3;
  error.context = {"loading the module"};
  EXPECT_EQ(error.text(), "a.py:3: no class `Model`\n  while loading the module");
}

TEST(Code, NamesAreUniqueAndDescribed) {
  std::set<std::string_view> names;
  for (const Code code : all_codes()) {
    EXPECT_TRUE(names.insert(name_of(code)).second) << name_of(code);
    EXPECT_FALSE(text_of(code).empty()) << name_of(code);
  }
}

TEST(Code, KindsHaveTheirExitCodes) {
  EXPECT_EQ(exit_code(kind_of(Code::bad_argument)), 2);
  EXPECT_EQ(exit_code(kind_of(Code::no_gpu)), 3);
  EXPECT_EQ(exit_code(kind_of(Code::internal)), 70);
}

}  // namespace
}  // namespace solstice
