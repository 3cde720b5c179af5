#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <thread>

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

mode_t mode_of(const fs::path& path) {
  struct stat found {};
  EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
  return found.st_mode;
}

TEST(File, ALinkKeepsItsPlaceAndItsFileIsWritten) {
  const TempFolder folder = temp_folder();
  const fs::path file = folder.path() / "deep/file", link = folder.path() / "link", chain = folder.path() / "chain";
  ASSERT_TRUE(write_file(file, "old").ok());
  fs::create_symlink("deep/file", link);
  fs::create_symlink(link, chain);
  ASSERT_TRUE(write_file(chain, "new").ok());
  EXPECT_TRUE(S_ISLNK(mode_of(chain)) && S_ISLNK(mode_of(link)) && S_ISREG(mode_of(file)));
  EXPECT_EQ(*read_file(file), "new");
  fs::create_symlink("nowhere/yet", folder.path() / "dangling");
  ASSERT_TRUE(write_file(folder.path() / "dangling", "x").ok());
  EXPECT_EQ(*read_file(folder.path() / "nowhere/yet"), "x");
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_EQ(write_file(folder.path() / "loop", "x").error().code, Code::io_error);
}

TEST(File, PermissionsAreTheFilesOwnOrTheUmasks) {
  const TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "f";
  const mode_t before = ::umask(077);
  ASSERT_TRUE(write_file(path, "x").ok());
  EXPECT_EQ(mode_of(path) & 0777, 0600u);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path, "y").ok());
  EXPECT_EQ(mode_of(path) & 0777, 0640u);
  ::umask(022);
  ASSERT_TRUE(write_file(folder.path() / "g", "x").ok());
  EXPECT_EQ(mode_of(folder.path() / "g") & 0777, 0644u);
  ::umask(before);
}

TEST(File, APipeIsWrittenNotReplaced) {
  const TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string heard;
  std::thread reader([&] { heard = *read_file(path); });
  EXPECT_TRUE(write_file(path, "through").ok());
  reader.join();
  EXPECT_EQ(heard, "through");
  EXPECT_TRUE(S_ISFIFO(mode_of(path)));
}

TEST(File, ADeviceIsWrittenNotReplaced) {
  const TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "null";
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "this user makes no device nodes";
  const Status written = write_file(path, "x");  // refused where the file system has no devices
  EXPECT_TRUE(written.ok() || written.error().code == Code::io_error) << written.error().text();
  EXPECT_TRUE(S_ISCHR(mode_of(path)));
}

// As /dev/stdout does, whose link leads below /proc.
TEST(File, AnOpenFileIsWrittenNotReplaced) {
  const TempFolder folder = temp_folder();
  const fs::path path = folder.path() / "f";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  fs::create_symlink("/proc/self/fd/" + std::to_string(fd), folder.path() / "stdout");
  ASSERT_TRUE(write_file(folder.path() / "stdout", "text").ok());
  char block[8] = {};
  EXPECT_EQ(::pread(fd, block, sizeof block, 0), 4);
  EXPECT_STREQ(block, "text");
  ::close(fd);
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
  EXPECT_EQ(write_file(folder.path(), "x").error().code, Code::bad_argument);
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
