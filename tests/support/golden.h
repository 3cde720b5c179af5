// Golden files: expect_golden("lang/diagnostics/e002.txt", text) compares text with tests/golden/<name>.
// SOLSTICE_UPDATE_GOLDEN=1 writes the files instead; review the diff before you commit it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace solstice::testing {

inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path = std::filesystem::path(SOLSTICE_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("SOLSTICE_UPDATE_GOLDEN")) {
    const Status written = write_file(path, actual);
    ASSERT_TRUE(written.ok()) << written.error().text();
    return;
  }
  const Result<std::string> expected = read_file(path);
  ASSERT_TRUE(expected.ok()) << expected.error().text() << "\nwrite it with SOLSTICE_UPDATE_GOLDEN=1";
  EXPECT_EQ(*expected, actual) << "differs from tests/golden/" << name << "; update with SOLSTICE_UPDATE_GOLDEN=1";
}

}  // namespace solstice::testing
