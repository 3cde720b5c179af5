// Words of code and of questions.
#include "codesearch/words.h"

#include <gtest/gtest.h>

#include <set>

namespace solstice::codesearch {
namespace {

std::set<std::string> words(std::string_view text) {
  std::set<std::string> out;
  each_word(text, [&](std::string_view word) { out.emplace(word); });
  return out;
}

void expect_words(std::string_view text, const std::vector<std::string>& expected) {
  const std::set<std::string> found = words(text);
  for (const std::string& word : expected) EXPECT_TRUE(found.contains(word)) << word << " of " << text;
}

TEST(Words, IdentifiersAreSplitAndKept) {
  expect_words("SM90_TMA_LOAD_2D", {"sm90_tma_load_2d", "sm90", "tma", "load", "2d", "tmaload"});
  expect_words("TileScheduler", {"tilescheduler", "til", "schedul", "tilschedul"});
  expect_words("TMALoad", {"tma", "load"});
  expect_words("__shfl_xor_sync", {"shfl_xor_sync", "shfl", "xor", "sync"});
}

TEST(Words, ShapesHaveTheirSides) {
  expect_words("MMA_64x256x16_F32BF16BF16_RS", {"64x256x16", "64x256", "256x16", "f32", "bf16", "rs"});
  expect_words("float_e4m3_t", {"e4m3"});
}

TEST(Words, StreamKIsOneHoweverItIsWritten) {
  for (const char* text : {"stream_k", "StreamK", "// stream-K fix-up", "// by stream K"})
    expect_words(text, {"streamk"});
}

TEST(Words, InstructionsStandInStringsAndComments) {
  expect_words("asm(\"cp.async.bulk.tensor.2d.shared::cluster.global\")",
               {"cp.async", "cp.async.bulk", "cp.async.bulk.tensor"});
  EXPECT_FALSE(words("params.async.bulk = 1;").contains("params.async"));
}

TEST(Words, FormsOfAWordAreOne) {
  for (const auto& [a, b] : {std::pair{"tiled", "tiles"},
                             {"pipelined", "pipeline"},
                             {"scheduler", "schedule"},
                             {"mapped", "mapping"},
                             {"copies", "copy"},
                             {"swizzling", "swizzle"}})
    EXPECT_EQ(stem(a), stem(b));
  EXPECT_EQ(stem("bus"), "bus");
  EXPECT_EQ(stem("e4m3"), "e4m3");
}

TEST(Words, AQuestionIsOnlyWords) {
  const std::vector<QuestionWord> found = question_words("\"tma_load\" AND (x* OR NEAR(cp.async.bulk, 3))");
  ASSERT_GE(found.size(), 5U);
  EXPECT_EQ(found[0].whole, "tma_load");
  EXPECT_EQ(found[0].parts, (std::vector<std::string>{"tma", "load"}));
  EXPECT_EQ(found[1].whole, "and");
  EXPECT_TRUE(question_words("\"'*()^:-+{}").empty());
  EXPECT_TRUE(question_words("\xc3\xa9\xff").empty());
}

}  // namespace
}  // namespace solstice::codesearch
