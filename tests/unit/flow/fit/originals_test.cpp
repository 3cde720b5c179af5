#include "flow/fit/originals.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace solstice::flow {
namespace {

OriginalFit shipped() {
  const auto originals = read_originals(std::string(SOLSTICE_SOURCE_DIR) + "/bench/families/originals.jsonl");
  EXPECT_TRUE(originals.ok()) << (originals.ok() ? "" : originals.error().text());
  const auto fit = judge_originals(originals.ok() ? *originals : std::vector<OriginalTime>());
  EXPECT_TRUE(fit.ok()) << (fit.ok() ? "" : fit.error().text());
  return fit.ok() ? *fit : OriginalFit();
}

TEST(Originals, ThePredictedTimeIsWithinItsBarOfMeasuredOnes) {
  const OriginalFit fit = shipped();
  ASSERT_EQ(fit.sets.size(), 3U);
  for (const OriginalErrors& errors : fit.sets) EXPECT_LE(errors.median, 0.15) << errors.what;
  EXPECT_EQ(fit.sets[0].count, 71);
  EXPECT_GT(fit.sets[2].count, 0);  // held out
}

TEST(Originals, AClassIsThatOfMostOfTheTime) {
  int originals = 0;
  for (const OriginalErrors& errors : shipped().classes) originals += errors.count;
  EXPECT_EQ(originals, 71);
}

TEST(Originals, ADamagedLineIsNamed) {
  const TempFolder folder = std::move(TempFolder::create("originals-")).value();
  ASSERT_TRUE(write_file(folder.path() / "times.jsonl", "\n{\"problem\": \"p\"}\n").ok());
  const auto read = read_originals(folder.path() / "times.jsonl");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text().find("times.jsonl:2:"), std::string::npos) << read.error().text();
}

}  // namespace
}  // namespace solstice::flow
