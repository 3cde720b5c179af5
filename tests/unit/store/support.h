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

inline Fact fact_of(const std::string& run, int node) {
  Fact fact;
  fact.run = run;
  fact.node = node;
  fact.machine = "h200";
  fact.structure = {"sum: f32", "t0:f32@0[i0] = sum i1[t1:f32@1[i0,i1]]", " 10 12"};
  fact.from = "rows(threads=128)";
  fact.to = "rows(threads=256)";
  fact.gain = 0.25;
  return fact;
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
