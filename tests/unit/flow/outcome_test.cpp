#include "flow/outcome.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace solstice::flow {
namespace {

namespace fs = std::filesystem;

class OutcomeTest : public ::testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) { ASSERT_TRUE(write_file(file, text).ok()); }
  std::string read(const fs::path& file) { return read_file(file).ok() ? *read_file(file) : "(none)"; }
  TempFolder folder_ = std::move(TempFolder::create("outcome-")).value();
  fs::path out_ = folder_.path() / "out";
};

TEST_F(OutcomeTest, TakesItsPlaceWhole) {
  write(out_ / "report.md", "old");
  write(out_ / "model_new.py", "old");
  write(out_ / "solstice_dropin/a.py", "old");
  write(out_ / "notes.txt", "mine");
  const fs::path fresh = *begin_outcome(out_);
  write(fresh / "trials/0/plan.json", "a trial");
  write(fresh / "report.md", "new");
  write(fresh / "solstice_dropin/a.py", "new");
  EXPECT_EQ(read(out_ / "report.md"), "old");
  ASSERT_TRUE(commit_outcome(fresh, out_).ok());
  EXPECT_EQ(read(out_ / "report.md"), "new");
  EXPECT_EQ(read(out_ / "solstice_dropin/a.py"), "new");
  EXPECT_EQ(read(out_ / "model_new.py"), "(none)");  // it belonged to the earlier outcome
  EXPECT_EQ(read(out_ / "notes.txt"), "mine");
  EXPECT_FALSE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(out_ / "trials"));
}

TEST_F(OutcomeTest, WhatAKilledRunLeftIsCleared) {
  write(out_ / "report.md", "old");
  write(*begin_outcome(out_) / "half.json", "{");
  EXPECT_TRUE(fs::is_empty(*begin_outcome(out_)));
  EXPECT_EQ(read(out_ / "report.md"), "old");
}

}  // namespace
}  // namespace solstice::flow
