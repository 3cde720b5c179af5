#include "codegen/text/marks.h"

#include <gtest/gtest.h>

namespace solstice::codegen {
namespace {

TEST(Marks, SayNothingWhereNothingIsToBeSaid) {
  EXPECT_EQ(mark(-1), "");
  EXPECT_EQ(marked("a;\nb;\n", -1), "a;\nb;\n");
  EXPECT_EQ(unmark("").code, "");
}

TEST(Marks, AreOfEachLineThatHasNoneYet) {
  const std::string text = marked("a;\n" + mark(4, "store") + "b;\nc;", 3);
  const Unmarked found = unmark(text);
  EXPECT_EQ(found.code, "a;\nb;\nc;");
  ASSERT_EQ(found.lines.size(), 3U);
  EXPECT_EQ(found.lines[0], (LineMark{3, ""}));
  EXPECT_EQ(found.lines[1], (LineMark{4, "store"}));
  EXPECT_EQ(found.lines[2], (LineMark{3, ""}));
}

// Texts are put together: a marked statement may follow a condition in its line.
TEST(Marks, MayStandInsideALineAndTheFirstCounts) {
  const Unmarked found = unmark("if (a) " + mark(-1, "load") + mark(2) + "b;" + mark(5, "store") + "\nc;\n");
  EXPECT_EQ(found.code, "if (a) b;\nc;\n");
  ASSERT_EQ(found.lines.size(), 2U);
  EXPECT_EQ(found.lines[0], (LineMark{2, "load"}));
  EXPECT_EQ(found.lines[1], LineMark{});
}

}  // namespace
}  // namespace solstice::codegen
