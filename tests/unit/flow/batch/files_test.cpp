// Batches that come from elsewhere: what their files may be.
#include "flow/batch/files.h"

#include <gtest/gtest.h>

#include "flow/batch/batch.h"

namespace solstice::flow {
namespace {

namespace fs = std::filesystem;

class BatchFilesTest : public ::testing::Test {
 protected:
  // A file of that size, which takes no space on disk.
  fs::path file_of(const char* name, int64_t bytes) {
    const fs::path file = folder_.path() / name;
    EXPECT_TRUE(write_file(file, "{}").ok());
    fs::resize_file(file, static_cast<std::uintmax_t>(bytes));
    return file;
  }

  TempFolder folder_ = std::move(TempFolder::create("batch")).value();
};

TEST_F(BatchFilesTest, ARecordThatIsTooLargeIsRefusedUnread) {
  const fs::path file = file_of("batch.json", kMostBatchFile + 1);
  const auto batch = read_batch(folder_.path());
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code, Code::too_large);
  EXPECT_EQ(batch.error().message,
            file.string() + " has 67108865 bytes; a file of a batch has at most 67108864: it was not read");
  file_of("batch.json", kMostBatchFile);
  EXPECT_EQ(read_batch(folder_.path()).error().code, Code::bad_record);  // `{}`, which was read
}

TEST_F(BatchFilesTest, SoIsAResult) {
  const auto result = read_if_there<BatchResult>(file_of("1.json", kMostBatchFile + 1));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::too_large);
}

TEST_F(BatchFilesTest, OnlyPlainFilesAreRead) {
  fs::create_symlink("/dev/zero", folder_.path() / "batch.json");
  EXPECT_EQ(read_batch(folder_.path()).error().code, Code::bad_argument);
  EXPECT_EQ(read_batch_file(folder_.path() / "none").error().code, Code::not_found);
}

}  // namespace
}  // namespace solstice::flow
