// Tables, wrapping and progress lines.
#include <gtest/gtest.h>

#include <cstdio>

#include "cli/progress.h"
#include "cli/view/table.h"

namespace solstice::cli {
namespace {

TEST(Table, AlignsWordsLeftAndNumbersRight) {
  EXPECT_EQ(table({{"name", "time"}, {"a", "9 us"}, {"long", "10 us"}}),
            "name  time\n"
            "a      9 us\n"
            "long  10 us\n");
}

TEST(Table, CellsHoldNoCommandsOfATerminal) {
  EXPECT_EQ(table({{"what", "n"}, {"\x1b[2Ja\nb", "1"}}), "what     n\n [2Ja b  1\n");
}

TEST(Clip, CutsNoCharacterInTwo) {
  EXPECT_EQ(clip("abc\u00e9\u00e9\u00e9", 8), "abc\u00e9...");  // each of two bytes
  EXPECT_EQ(clip("abc\u00e9\u00e9", 7), "abc\u00e9\u00e9");
}

TEST(Table, RowsMayBeShort) { EXPECT_EQ(table({{"a", "b"}, {"c"}}), "a  b\nc\n"); }

TEST(Wrap, BreaksAtSpacesAndIndents) {
  EXPECT_EQ(wrap("one two three four", 9, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrap("unbreakableword x", 5, 0), "unbreakableword\nx");
  EXPECT_EQ(wrap("a\n\nb", 10, 0), "a\n\nb");
  EXPECT_EQ(wrap("", 10, 0), "");
}

TEST(Hanging, PutsTextBesideOrBelowTheName) {
  EXPECT_EQ(hanging("--a", "what it does", 8, 16), "  --a   what it\n        does\n");
  EXPECT_EQ(hanging("--longer-name", "text", 8, 40), "  --longer-name\n        text\n");
}

TEST(Show, PicksTheUnit) {
  EXPECT_EQ(show(microseconds(12.34)), "12.34 us");
  EXPECT_EQ(show(milliseconds(2.5)), "2.5 ms");
  EXPECT_EQ(show(Seconds(60)), "60 s");
  EXPECT_EQ(show(Bytes(512)), "512 B");
  EXPECT_EQ(show(Bytes(1.5 * 1024 * 1024 * 1024)), "1.5 GiB");
  EXPECT_EQ(show_factor(3.456), "3.46x");
  EXPECT_EQ(clip("abcdef", 5), "ab...");
}

Standing sample() {
  Standing s;
  s.trials = 7;
  s.trials_allowed = 40;
  s.baseline = milliseconds(2);
  s.best = microseconds(500);
  s.sol = microseconds(400);
  s.left = Seconds(31);
  return s;
}

TEST(Standing, OnlyKnownPartsAreShown) {
  EXPECT_EQ(standing_text(sample()), "7/40 trials, best 500 us (4.00x), 1.25x of SOL, 31 s left");
  EXPECT_EQ(standing_text(Standing{}), "0 trials");
  Standing predicted = sample();
  predicted.predicted = true;
  EXPECT_NE(standing_text(predicted).find("best predicted 500 us"), std::string::npos);
}

std::string captured(void (*use)(Progress&), std::unique_ptr<Progress> (*make)(std::FILE*)) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  {
    const auto progress = make(out);
    use(*progress);
  }
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

void use_progress(Progress& p) {
  p.stage_started("import", "a.py");
  p.stage_finished("import", "3 equations", milliseconds(12));
  p.trial_finished({1, "k by map()", "verified", microseconds(500), false}, sample());
  p.standing_changed(sample());
  p.message("kept the best so far");
}

TEST(Progress, PlainLinesHoldTheNewsOnce) {
  const std::string text = captured(use_progress, plain_progress);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("import: a.py\n"), std::string::npos) << text;
  EXPECT_NE(text.find("trial 1: verified 500 us, k by map()\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("7/40 trials"), text.rfind("7/40 trials")) << "a standing without a new best is no news";
}

TEST(Progress, TheTerminalHasOneLiveLine) {
  const std::string text = captured(use_progress, [](std::FILE* out) { return terminal_progress(out, 80); });
  EXPECT_NE(text.find("\r\x1b[K"), std::string::npos);
  EXPECT_NE(text.find("  import       3 equations  (12 ms)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  kept the best so far\n"), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
