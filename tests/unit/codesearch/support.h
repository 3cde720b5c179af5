// A folder of code that is searched, with an index of its own.
#pragma once

#include <gtest/gtest.h>

#include "base/file.h"
#include "codesearch/codesearch.h"

namespace solstice::codesearch {

class CodeSearchTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    const Status done = write_file(folder_.path() / "code" / path, text);
    ASSERT_TRUE(done.ok()) << done.error().text();
  }
  Options options() {
    return {.roots = {{"kernels", folder_.path() / "code"}},
            .folder = folder_.path() / "index",
            .store = folder_.path() / "home",
            .say = [this](const std::string& line) { said_ += line + "\n"; }};
  }
  Result<CodeIndex> open() {
    said_.clear();
    return CodeIndex::open(options());
  }
  std::vector<std::string> paths(const std::string& question) {
    Result<CodeIndex> index = open();
    EXPECT_TRUE(index.ok()) << index.error().text();
    if (!index.ok()) return {};
    const Result<Answer> answer = index->search(question);
    EXPECT_TRUE(answer.ok()) << answer.error().text();
    std::vector<std::string> out;
    if (answer.ok()) {
      for (const Hit& hit : answer->hits) out.push_back(hit.path);
    }
    return out;
  }
  std::filesystem::path index_file() { return folder_.path() / "index/index.db"; }

  TempFolder folder_ = std::move(TempFolder::create("codesearch-test-")).value();
  std::string said_;  // lines of progress since open()
};

}  // namespace solstice::codesearch
