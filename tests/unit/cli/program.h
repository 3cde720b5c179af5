// The built program, run with a home and a cache of its own.
#pragma once

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/process/subprocess.h"

namespace solstice::cli {

class ProgramTest : public ::testing::Test {
 protected:
  CommandOutput run(std::vector<std::string> arguments) {
    SpawnOptions options;
    options.argv = {companion("solstice")->string()};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = {{"SOLSTICE_HOME", (folder_.path() / "home").string()},
                           {"SOLSTICE_CACHE", (folder_.path() / "cache").string()}};
    Result<CommandOutput> done = run_command(options, Seconds(120));
    EXPECT_TRUE(done.ok()) << done.error().text();
    return done.ok() ? std::move(done).value() : CommandOutput{};
  }
  TempFolder folder_ = std::move(TempFolder::create("program-test-")).value();
};

}  // namespace solstice::cli
