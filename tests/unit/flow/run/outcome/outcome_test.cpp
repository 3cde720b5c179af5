#include "flow/run/outcome/outcome.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/json.h"

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
  write(out_ / ".files", R"(["report.md", "model_new.py", "solstice_dropin/a.py"])");
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
  EXPECT_FALSE(fs::exists(out_ / ".outcome"));
  EXPECT_FALSE(fs::exists(out_ / "trials"));
}

TEST_F(OutcomeTest, AnOutcomeOfAnotherFileOrClassKeepsItsFolder) {
  const fs::path one = folder_.path() / "a/m.py", other = folder_.path() / "b/m.py";
  const auto report = [this](const fs::path& folder, const fs::path& file, const std::string& class_name) {
    write(folder / "report.json", Json::object().set("file", file.string()).set("class_name", class_name).dump());
  };
  EXPECT_EQ(folder_for(out_, subject_text(one, "")), out_);
  report(out_, one, "");
  EXPECT_EQ(subject_in(out_), subject_text(one, ""));
  EXPECT_EQ(folder_for(out_, subject_text(one, "")), out_);
  EXPECT_EQ(folder_for(out_, subject_text(folder_.path() / "b/../a/m.py", "")), out_);
  EXPECT_EQ(folder_for(out_, subject_text(other, "")), out_.string() + "-2");
  EXPECT_EQ(folder_for(out_, subject_text(one, "Wide")), out_.string() + "-2");
  report(out_.string() + "-2", one, "Wide");
  EXPECT_EQ(folder_for(out_, subject_text(one, "Wide")), out_.string() + "-2");
  EXPECT_EQ(folder_for(out_, subject_text(other, "")), out_.string() + "-3");
  write(out_.string() + "-3/report.json", "{");  // whose it is cannot be told
  EXPECT_EQ(folder_for(out_, subject_text(other, "")), out_.string() + "-4");
  report(out_ / ".outcome", other, "");  // on its way when its run was killed
  EXPECT_EQ(folder_for(out_, subject_text(other, "")), out_);
}

TEST_F(OutcomeTest, WhatNoOutcomeListsIsNeitherRemovedNorReplaced) {
  for (const char* name : {"model_new.py", "plan.json", "solstice_dropin/mine.py"}) {
    write(out_ / name, "mine");
    const Result<fs::path> begun = begin_outcome(out_);
    ASSERT_FALSE(begun.ok()) << name;
    EXPECT_EQ(begun.error().code, Code::bad_argument);
    EXPECT_NE(begun.error().hint.find("move it away, or use another --out"), std::string::npos)
        << begun.error().message;
    EXPECT_EQ(read(out_ / name), "mine");
    fs::remove_all(out_);
  }
}

TEST_F(OutcomeTest, AFileThatCameMeanwhileIsNotReplaced) {
  const fs::path fresh = *begin_outcome(out_);
  write(fresh / "report.md", "new");
  write(fresh / "k.cubin", "new");
  write(out_ / "k.cubin", "mine");
  const Status done = commit_outcome(fresh, out_);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("k.cubin exists and is not a file of an earlier result"), std::string::npos)
      << done.error().message;
  EXPECT_EQ(read(out_ / "k.cubin") + read(out_ / "report.md"), "mine(none)");
}

// A kill between any two renamings: the next run finds the outcome and finishes it.
TEST_F(OutcomeTest, AnOutcomeHalfMovedIsFinished) {
  const std::vector<std::string> files = {"b.cubin", "plan.json", "sub/new.py", "report.md"};
  for (size_t moved = 0; moved <= files.size(); ++moved) {
    fs::remove_all(out_);
    for (const char* name : {"a.cubin", "plan.json", "report.md"}) write(out_ / name, "old");
    write(out_ / ".files", R"(["a.cubin", "plan.json", "report.md"])");
    write(out_ / ".outcome/.files", R"(["b.cubin", "plan.json", "sub/new.py", "report.md"])");
    for (size_t i = 0; i < files.size(); ++i) write((i < moved ? out_ : out_ / ".outcome") / files[i], "new");
    ASSERT_TRUE(begin_outcome(out_).ok()) << moved;
    for (const std::string& name : files) EXPECT_EQ(read(out_ / name), "new") << moved << " " << name;
    EXPECT_EQ(read(out_ / "a.cubin"), "(none)");
    EXPECT_NE(read(out_ / ".files").find("b.cubin"), std::string::npos);
    EXPECT_FALSE(fs::exists(out_ / ".outcome"));
  }
  fs::create_directories(out_ / ".outcome");  // all is moved, the empty folder is left
  EXPECT_TRUE(begin_outcome(out_).ok());
  EXPECT_FALSE(fs::exists(out_ / ".outcome"));
}

TEST_F(OutcomeTest, ADamagedListIsAnErrorWithTheWayOut) {
  write(out_ / ".files", "[");
  const Result<fs::path> begun = begin_outcome(out_);
  ASSERT_FALSE(begun.ok());
  EXPECT_NE(begun.error().hint.find("use another --out, or empty the folder"), std::string::npos);
}

TEST_F(OutcomeTest, FilesOfAnEarlierOutcomeGo) {
  fs::path fresh = *begin_outcome(out_);
  write(fresh / "a.cubin", "1");
  write(fresh / "plan.json", "1");
  write(fresh / "original_modules/helpers.py", "1");
  write(fresh / "solstice_dropin/parts/fast.py", "1");
  ASSERT_TRUE(commit_outcome(fresh, out_).ok());
  write(out_ / "mine.cubin", "mine");
  fresh = *begin_outcome(out_);
  write(fresh / "b.cubin", "2");
  write(fresh / "plan.json", "2");
  ASSERT_TRUE(commit_outcome(fresh, out_).ok());
  EXPECT_EQ(read(out_ / "a.cubin"), "(none)");
  EXPECT_EQ(read(out_ / "original_modules/helpers.py"), "(none)");
  EXPECT_EQ(read(out_ / "b.cubin") + read(out_ / "plan.json") + read(out_ / "mine.cubin"), "22mine");
  EXPECT_FALSE(fs::exists(out_ / "solstice_dropin"));  // it would be in the way of the next
  EXPECT_TRUE(begin_outcome(out_).ok());
}

TEST_F(OutcomeTest, AForeignFileOfAStageIsRefusedAtTheBeginning) {
  const fs::path fresh = *begin_outcome(out_);
  write(fresh / "stage_1/report.json", "{}");
  ASSERT_TRUE(commit_outcome(fresh, out_).ok());
  write(out_ / "stage_one/report.json", "mine");
  EXPECT_TRUE(begin_outcome(out_).ok());
  write(out_ / "stage_2/report.json", "mine");
  const Result<fs::path> begun = begin_outcome(out_);
  ASSERT_FALSE(begun.ok());
  EXPECT_NE(begun.error().message.find("stage_2/report.json exists and is not a file of an earlier result"),
            std::string::npos);
}

TEST_F(OutcomeTest, AListNeverLeadsOutOfTheFolder) {
  write(folder_.path() / "precious", "kept");
  write(out_ / ".files", "[\"../precious\", \"" + (folder_.path() / "precious").string() + "\"]");
  const fs::path fresh = *begin_outcome(out_);
  write(fresh / "report.md", "new");
  ASSERT_TRUE(commit_outcome(fresh, out_).ok());
  EXPECT_EQ(read(folder_.path() / "precious"), "kept");
}

TEST_F(OutcomeTest, AFolderIsFreeAMomentAfterItsRunWasKilled) {
  auto dying = OutcomeLock::take(out_);
  ASSERT_TRUE(dying.ok());
  std::thread end([held = std::optional<OutcomeLock>(std::move(*dying))]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    held.reset();
  });
  EXPECT_TRUE(OutcomeLock::take(out_).ok());
  end.join();
}

TEST_F(OutcomeTest, ASecondRunIsKeptOut) {
  {
    const auto first = OutcomeLock::take(out_);
    ASSERT_TRUE(first.ok());
    const auto second = OutcomeLock::take(out_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::bad_argument);
    EXPECT_NE(second.error().sentence().find("another --out"), std::string::npos);
  }
  EXPECT_TRUE(OutcomeLock::take(out_).ok());
}

TEST_F(OutcomeTest, FoldersThatWereMadeForNothingGo) {
  const auto made = folder_.path() / "a" / "b", mine = folder_.path() / "mine";
  auto lock = OutcomeLock::take(made);
  ASSERT_TRUE(lock.ok());
  lock->leave_no_trace();
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a"));
  std::filesystem::create_directory(mine);
  auto kept = OutcomeLock::take(mine);
  ASSERT_TRUE(kept.ok());
  kept->leave_no_trace();
  EXPECT_TRUE(std::filesystem::exists(mine));
  auto used = OutcomeLock::take(made);
  ASSERT_TRUE(used.ok());
  write(folder_.path() / "a" / "notes", "mine");
  used->leave_no_trace();
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "a" / "notes"));
  EXPECT_FALSE(std::filesystem::exists(made));
}

TEST_F(OutcomeTest, WhatAKilledRunLeftIsCleared) {
  write(out_ / "report.md", "old");
  write(out_ / ".files", R"(["report.md"])");
  write(*begin_outcome(out_) / "half.json", "{");
  EXPECT_TRUE(fs::is_empty(*begin_outcome(out_)));
  EXPECT_EQ(read(out_ / "report.md"), "old");
}

}  // namespace
}  // namespace solstice::flow
