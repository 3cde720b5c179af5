#include "base/line_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace solstice {
namespace {

TEST(LineDiff, EqualTextsHaveNone) {
  EXPECT_EQ(line_diff("", ""), "");
  EXPECT_EQ(line_diff("a\nb", "a\nb"), "");
}

TEST(LineDiff, HasContextAroundEachChange) {
  EXPECT_EQ(line_diff("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nfour\n5\n6\n7\n"),
            "@@ -2,5 +2,5 @@\n 2\n 3\n-4\n+four\n 5\n 6\n");
  EXPECT_EQ(line_diff("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nfour\n5\n6\n7\n", 0), "@@ -4 +4 @@\n-4\n+four\n");
  EXPECT_EQ(line_diff("a\nb\nc\n", "a\nc\n"), "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
}

// Five unchanged lines are more than two contexts, four are not.
TEST(LineDiff, ChangesNearEachOtherShareAHunk) {
  EXPECT_EQ(line_diff("a\n1\n2\n3\n4\nb\n", "A\n1\n2\n3\n4\nB\n"), "@@ -1,6 +1,6 @@\n-a\n+A\n 1\n 2\n 3\n 4\n-b\n+B\n");
  EXPECT_EQ(line_diff("a\n1\n2\n3\n4\n5\nb\n", "A\n1\n2\n3\n4\n5\nB\n"),
            "@@ -1,3 +1,3 @@\n-a\n+A\n 1\n 2\n@@ -5,3 +5,3 @@\n 4\n 5\n-b\n+B\n");
}

TEST(LineDiff, AnEmptyTextAndAMissingNewlineAreTold) {
  EXPECT_EQ(line_diff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(line_diff("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(line_diff("a\nb\n", "a\nb"), "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n");
}

TEST(LineDiff, TakesTheFewestLines) {
  EXPECT_EQ(line_diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", 9),
            "@@ -1,7 +1,6 @@\n-a\n-b\n c\n-a\n b\n+a\n b\n a\n+c\n");
}

// Lines of the whole diff's old side and new side are the two texts.
TEST(LineDiff, SaysBothTexts) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto text = [&] {
      std::string out;
      for (size_t i = random() % 20; i > 0; --i) out += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      return out;
    };
    const std::string before = text(), after = text();
    std::istringstream diff(line_diff(before, after, 1000));
    std::string line, old_side, new_side;
    while (std::getline(diff, line)) {
      if (line[0] == ' ' || line[0] == '-') old_side += line.substr(1) + "\n";
      if (line[0] == ' ' || line[0] == '+') new_side += line.substr(1) + "\n";
    }
    if (before == after) continue;
    EXPECT_EQ(old_side, before);
    EXPECT_EQ(new_side, after);
  }
}

TEST(LineDiff, WhatIsTooLargeIsReplacedAsAWhole) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) before += std::to_string(i) + "\n", after += std::to_string(i + 1) + "\n";
  const std::string diff = line_diff("first\n" + before, "first\n" + after, 1);
  EXPECT_TRUE(diff.starts_with("@@ -1,5001 +1,5001 @@\n first\n-0\n-1\n"));
  EXPECT_TRUE(diff.ends_with("+5000\n"));
}

}  // namespace
}  // namespace solstice
