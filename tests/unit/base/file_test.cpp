#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace solstice {
namespace {

namespace fs = std::filesystem;

TempFolder temp_folder() { return std::move(TempFolder::create("file-test-")).value(); }

TEST(File, WritesReadsAndAppends) {
  const TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "deep/er/file";
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file(path, bytes).ok());
  EXPECT_EQ(*read_file(path), bytes);
  ASSERT_TRUE(append_line(path, "line").ok());
  EXPECT_EQ(*read_file(path), bytes + "line\n");
}

TEST(File, WritingLeavesNoTemporaryBehind) {
  const TempFolder folder = temp_folder();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(write_file(folder.path() / "f", std::to_string(i)).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(File, MissingFilesAreNamed) {
  const auto missing = read_file("/no/such/file");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_NE(missing.error().message.find("/no/such/file"), std::string::npos);
}

TEST(File, AFolderIsNoFile) {
  const TempFolder folder = temp_folder();
  const auto read = read_file(folder.path());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::bad_argument);
  EXPECT_NE(read.error().message.find("it is a folder, not a file"), std::string::npos);
}

TEST(File, WritingNeverSaysThatSomethingWasNotFound) {
  EXPECT_EQ(write_file("/proc/foo/bar", "x").error().code, Code::io_error);
  EXPECT_EQ(write_file("/proc/foo", "x").error().code, Code::io_error);
  EXPECT_EQ(append_line("/proc/foo/bar", "x").error().code, Code::io_error);
  EXPECT_EQ(make_folder("/proc/foo").error().code, Code::io_error);
}

TEST(File, AFullDiskIsADiskFullError) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full on this machine";
  EXPECT_EQ(append_line("/dev/full", "x").error().code, Code::disk_full);
}

TEST(TempFolder, IsGoneWithItsContent) {
  fs::path path;
  {
    const TempFolder folder = temp_folder();
    path = folder.path();
    ASSERT_TRUE(write_file(path / "a/b", "x").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace solstice
