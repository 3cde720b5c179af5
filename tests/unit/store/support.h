// A store in a folder of its own, and runs to put there.
#pragma once

#include <gtest/gtest.h>

#include "base/file.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace solstice::store {

inline RunRecord run_of(const std::string& problem, const std::string& options) {
  RunRecord run;
  run.problem = problem;
  run.problem_key = "key-of-" + problem;
  run.options_key = options;
  run.command = {"solstice", "optimize", problem};
  return run;
}

class StoreTest : public ::testing::Test {
 protected:
  Store open() {
    Result<Store> store = Store::open(folder_.path());
    EXPECT_TRUE(store.ok()) << store.error().text();
    return std::move(store).value();
  }
  Database database() { return std::move(Database::open(folder_.path() / "runs.db")).value(); }
  void write(const std::string& sql) {
    const Status done = database().execute(sql.c_str());
    EXPECT_TRUE(done.ok()) << done.error().text();
  }

  TempFolder folder_ = std::move(TempFolder::create("store-test-")).value();
};

}  // namespace solstice::store
