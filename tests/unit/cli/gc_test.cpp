// solstice gc on a store and caches of its own.
#include <chrono>

#include "base/json.h"
#include "store/store.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

namespace fs = std::filesystem;

class GcTest : public ProgramTest {
 protected:
  // Of a module's part where `options` say so. Its id.
  std::string add_run(const std::string& started, const Json& options = {}, bool ends = true) {
    auto store = store::Store::open(folder_.path() / "home").value();
    RunRecord run;
    run.problem = run.problem_key = "softmax";
    run.started = started;
    run.options = options;
    const std::string id = store.begin_run(run).value();
    if (!ends) return id;
    EXPECT_TRUE(store.finish_run(id, RunState::kFinished, RunOutcome::kNotFaster, "", Json::object()).ok());
    return id;
  }
  // A file of the cache that was last used so many hours ago.
  fs::path add_file(const std::string& name, size_t bytes, int hours) {
    const fs::path file = folder_.path() / "cache" / name;
    EXPECT_TRUE(write_file(file, std::string(bytes, 'x')).ok());
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return file;
  }
  Json gc(std::vector<std::string> options) {
    options.insert(options.begin(), {"gc", "--json"});
    const CommandOutput done = run(options);
    EXPECT_EQ(done.exit.code, 0) << done.err;
    return parse_json(done.out).value();
  }
  size_t runs_left() { return store::Store::open(folder_.path() / "home").value().list()->size(); }
};

TEST_F(GcTest, RemovesOldRunsBeyondTheKeptOnesAndOnlyWhenToldTo) {
  for (const char* year : {"2019", "2020", "2021"}) add_run(std::string(year) + "-01-01T00:00:00.000Z");
  EXPECT_EQ(gc({}).at("runs").size(), 0u);
  const Json plan = gc({"--older-than", "30d", "--keep", "1"});
  EXPECT_EQ(plan.at("runs").size(), 2u);
  EXPECT_FALSE(plan.at("removed").as_bool());
  EXPECT_EQ(runs_left(), 3u);
  EXPECT_TRUE(gc({"--keep", "1", "--yes"}).at("removed").as_bool());
  EXPECT_EQ(runs_left(), 1u);
  EXPECT_EQ(gc({"--older-than", "5000w", "--yes"}).at("runs").size(), 0u);
  EXPECT_EQ(gc({"--older-than", "1d", "--yes"}).at("runs").size(), 1u);
  EXPECT_EQ(runs_left(), 0u);
}

Json part_of(const std::string& run) { return Json::object().set("part", true).set("part_of", run); }

TEST_F(GcTest, PartsGoAndStayWithTheirModule) {
  const std::string old = add_run("2019-01-01T00:00:00.000Z");
  add_run("2019-01-01T00:00:01.000Z", part_of(old));
  const std::string kept = add_run("2020-01-01T00:00:00.000Z");
  add_run("2020-01-01T00:00:01.000Z", part_of(kept));
  add_run("2020-01-01T00:00:02.000Z", Json::object().set("part", true));  // as one that names no module
  EXPECT_EQ(gc({}).at("parts").at(size_t{0}).at("entries").as_int(), 2);
  EXPECT_EQ(gc({"--keep", "1", "--yes"}).at("runs").size(), 2u);
  auto store = store::Store::open(folder_.path() / "home").value();
  EXPECT_EQ(store.list()->size(), 3u);
  EXPECT_EQ(store.load_run("last")->run.id, kept);
  EXPECT_EQ(gc({"--keep", "0", "--yes"}).at("runs").size(), 3u);
}

TEST_F(GcTest, PartsOfARunningModuleStayAndOrphansGo) {
  add_run("2018-01-01T00:00:00.000Z", part_of("20170101-000000-gone"));
  const std::string running = add_run("2019-01-01T00:00:00.000Z", {}, false);
  const std::string part = add_run("2019-01-01T00:00:01.000Z", part_of(running));
  const Json done = gc({"--keep", "0", "--yes"});
  EXPECT_EQ(done.at("runs").size(), 1u);
  EXPECT_NE(done.at("note").as_string().find(running), std::string::npos) << done.at("note").as_string();
  EXPECT_EQ(runs_left(), 2u);
}

TEST_F(GcTest, CachesLoseWhatWasNotUsedForLongest) {
  const fs::path old_cubin = add_file("jit/aa.cubin", 4000, 50), old_record = add_file("jit/aa.json", 1000, 50);
  const fs::path cubin = add_file("jit/bb.cubin", 4000, 50), record = add_file("jit/bb.json", 1000, 1);  // used
  const fs::path graph = add_file("graphs/cc.json", 2000, 20);
  EXPECT_EQ(gc({"--cache-limit", "1GB", "--yes"}).at("note").as_string().rfind("nothing to remove", 0), 0u);
  gc({"--cache-limit", "8kB", "--yes"});
  EXPECT_FALSE(fs::exists(old_cubin) || fs::exists(old_record));
  EXPECT_TRUE(fs::exists(cubin) && fs::exists(record) && fs::exists(graph));
  gc({"--cache-limit", "5 kB", "--yes"});
  EXPECT_FALSE(fs::exists(graph));
  EXPECT_TRUE(fs::exists(cubin) && fs::exists(record));
  gc({"--cache-limit", "0", "--yes"});
  EXPECT_FALSE(fs::exists(cubin) || fs::exists(record));
}

TEST_F(GcTest, LeftoversGoAndFilesBeingWrittenStay) {
  const fs::path damaged = add_file("jit/quarantine/dd.cubin", 100, 0);
  const fs::path left = add_file("jit/ee.cubin.0a1b2c", 100, 5), writing = add_file("jit/ff.cubin.0a1b2c", 100, 0);
  gc({"--yes"});
  EXPECT_FALSE(fs::exists(damaged) || fs::exists(left));
  EXPECT_TRUE(fs::exists(writing));
}

TEST_F(GcTest, PrintsWhatThereIsAndNamesWrongValues) {
  add_file("graphs/cc.json", 2048, 0);
  const CommandOutput done = run({"gc"});
  EXPECT_NE(done.out.find("traced graphs"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("  2 KiB"), std::string::npos) << done.out;
  for (const auto& [option, value] : {std::pair{"--older-than", "30"}, {"--cache-limit", "2"}, {"--keep", "-1"}}) {
    const CommandOutput wrong = run({"gc", option, value});
    EXPECT_EQ(wrong.exit.code, 2);
    EXPECT_NE(wrong.err.find(option), std::string::npos) << wrong.err;
  }
}

}  // namespace
}  // namespace solstice::cli
