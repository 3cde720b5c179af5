#include "agents/repeats.h"

#include <gtest/gtest.h>

namespace solstice::agents {
namespace {

TEST(Repeats, AMessageIsTakenOnceWithTheNumberOfItsRepeats) {
  EXPECT_EQ(
      without_repeats("c:1:2: error[E001]: no `}`\n  hint: close it\nc:2:2: error[E001]: no `}`\n  hint: close it\n"
                      "c:3:1: error[E002]: another\nc:4:2: error[E001]: no `}`\n  hint: close it\n"),
      "c:1:2: error[E001]: no `}`\n  hint: close it\n(2 more like it)\nc:3:1: error[E002]: another\n");
}

TEST(Repeats, WhatFollowsARepeatStays) {
  EXPECT_EQ(without_repeats("c:1:2: one\nc:2:2: one\n  hint\n\nin the end\n"),
            "c:1:2: one\n(1 more like it)\n\nin the end\n");
}

TEST(Repeats, OtherTextStays) {
  EXPECT_EQ(without_repeats("source `k.cu` does not compile:\nk.cu(3): error\n"),
            "source `k.cu` does not compile:\nk.cu(3): error\n");
  EXPECT_EQ(without_repeats(""), "");
}

}  // namespace
}  // namespace solstice::agents
