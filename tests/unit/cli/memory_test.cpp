// solstice memory over stores that were written here.
#include <cmath>

#include "store/store.h"
#include "support/made_runs.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

class MemoryTest : public ProgramTest {
 protected:
  std::filesystem::path folder(const std::string& name = "store") const { return folder_.path() / name; }

  CommandOutput memory(const std::string& verb, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"memory", verb});
    return run(std::move(arguments));
  }

  static search::Measurement timed(const std::string& device, double time) {
    search::Measurement out = testing::verified(time);
    if (device == "model") out.state = TrialState::kPredicted;
    return out;
  }

  void add_failed_run(const std::string& store_name) {
    Result<store::Store> store = store::Store::open(folder(store_name));
    ASSERT_TRUE(store.ok());
    const std::string id = *store->begin_run(RunRecord{});
    ASSERT_TRUE(store->finish_run(id, RunState::kFailed, RunOutcome::kNone, "no module", Json()).ok());
  }

  // A program of one kernel, and trials derived from the first, each with other knobs and a time.
  void add_run(const std::string& store_name, const std::string& problem, const std::string& device,
               const std::vector<std::pair<std::string, double>>& trials, double original = 0.01, double bound = 0) {
    Result<store::Store> store = store::Store::open(folder(store_name));
    ASSERT_TRUE(store.ok());
    RunRecord record;
    record.problem = problem;
    const std::string id = *store->begin_run(record);
    ASSERT_TRUE(store->describe_run(id, "h200", device, {}).ok());
    search::Tree tree{Seconds(original)};
    for (const auto& [knobs, time] : trials)
      tree.complete(testing::add(tree, tree.trials() == 0 ? 0 : 1, "why", knobs), timed(device, time));
    for (size_t i = 0; i < tree.events().size(); ++i) ASSERT_TRUE(store->add_event(id, i, tree.events()[i]).ok());
    const Json summary = Json::object().set("bounds", Json::object().set("practical", bound));
    ASSERT_TRUE(store->finish_run(id, RunState::kFinished, RunOutcome::kFaster, "", summary).ok());
  }
};

TEST_F(MemoryTest, RebuildsOnceAndShows) {
  const std::string here = folder().string();
  EXPECT_NE(memory("show", {"--store", here}).err.find("is no run store"), std::string::npos);
  ASSERT_TRUE(store::Store::open(here).ok());
  EXPECT_NE(memory("show", {"--store", here}).out.find("no facts in"), std::string::npos);
  add_run("store", "one", "gpu", {{"tile=128x256x64", 0.004}, {"tile=128x128x64", 0.002}});
  add_run("store", "two", "gpu",
          {{"tile=128x256x64", 0.004}, {"tile=128x128x64", 0.002}, {"tile=128x256x64, cluster=2x1", 0.005}});
  add_run("store", "three", "model", {{"tile=128x256x64", 0.004}, {"tile=128x128x64", 0.002}});
  EXPECT_EQ(memory("rebuild", {"--store", here}).out, "3 new facts from 2 runs\n");
  EXPECT_EQ(memory("rebuild", {"--store", here}).out, "0 new facts from 2 runs\n") << "never counted twice";
  const CommandOutput shown = memory("show", {"--store", here});
  EXPECT_NE(shown.out.find("gemm: tile=128x256x64 -> tile=128x128x64"), std::string::npos) << shown.out << shown.err;
  EXPECT_NE(shown.out.find("+100.0 %"), std::string::npos) << shown.out;
  const Result<Json> json = parse_json(memory("show", {"--store", here, "--json", "--structure", "contraction"}).out);
  ASSERT_TRUE(json.ok());
  ASSERT_EQ(json->size(), 2u);
  EXPECT_EQ(json->at(0).at("facts").as_double(), 2);
  EXPECT_EQ(json->at(0).at("structures").as_double(), 1);
  EXPECT_EQ(json->at(0).at("gain").as_double(), 1);
  EXPECT_NE(memory("show", {"--store", here, "--structure", "argmax"}).out.find("no facts of such kernels"),
            std::string::npos);
  const Result<Json> facts = parse_json(memory("show", {"--store", here, "--facts"}).out);
  ASSERT_TRUE(facts.ok());
  ASSERT_EQ(facts->size(), 3u);
  EXPECT_EQ(facts->at(0).at("node").as_double(), 2);
  EXPECT_EQ(facts->at(0).dump().find("one"), std::string::npos) << "no problem is named";
}

TEST_F(MemoryTest, RunsWithoutTrialsAreCounted) {
  add_failed_run("store");
  add_run("store", "one", "gpu", {{"tile=128x256x64", 0.004}, {"tile=128x128x64", 0.002}});
  EXPECT_EQ(memory("rebuild", {"--store", folder().string()}).out, "1 new facts from 1 runs; 1 run without trials\n");
  add_failed_run("store");
  EXPECT_EQ(memory("rebuild", {"--store", folder().string()}).out, "0 new facts from 1 runs; 2 runs without trials\n");
  const Result<Json> json = parse_json(memory("rebuild", {"--store", folder().string(), "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->at("without_trials").as_int(), 2);
  EXPECT_EQ(json->at("unreadable").size(), 0u);
}

TEST_F(MemoryTest, SpeedupsOfPredictedTimesSaySo) {
  for (const char* side : {"off", "on"}) add_run(side, "one", "model", {{"stages=1", 0.008}, {"stages=2", 0.002}});
  const std::vector<std::string> sides = {"--without", folder("off").string(), "--with", folder("on").string()};
  const CommandOutput done = memory("benefit", sides);
  EXPECT_NE(done.out.find("\ntimes are predicted by cost models, not measured\n"), std::string::npos)
      << done.out << done.err;
}

// Of searches without a GPU the original is not known: the slowest trial of one run is no measure for another.
TEST_F(MemoryTest, ArmsWithoutAnOriginalShareAMeasure) {
  add_run("off", "one", "model", {{"stages=1", 0.008}, {"stages=2", 0.004}}, 0, 0.002);
  add_run("on", "one", "model", {{"stages=1", 0.004}, {"stages=2", 0.0022}}, 0, 0.002);
  add_run("off", "two", "model", {{"stages=1", 0.004}, {"stages=2", 0.0022}}, 0, 0.002);
  add_run("on", "two", "model", {{"stages=1", 0.004}, {"stages=2", 0.0022}}, 0, 0.002);
  const std::vector<std::string> sides = {
      "--without", folder("off").string(), "--with", folder("on").string(), "--share", "0.99"};
  const CommandOutput done = memory("benefit", sides);
  EXPECT_NE(done.out.find("final speedup, with over without: 1.348 (p = 0.5, 2 problems)\n"), std::string::npos)
      << done.out << done.err;
  EXPECT_NE(done.out.find("1.15 times the practical bound without: 1.818 (p = 0.5, 1 problem)\n"), std::string::npos)
      << done.out;
}

TEST_F(MemoryTest, ComparesTwoArms) {
  add_run("off", "one", "gpu", {{"stages=1", 0.008}, {"stages=2", 0.007}, {"stages=3", 0.006}, {"stages=4", 0.002}});
  add_run("on", "one", "gpu", {{"stages=1", 0.008}, {"stages=4", 0.002}});
  add_run("on", "taught", "gpu", {{"stages=1", 0.008}});
  add_run("off", "two", "gpu", {{"stages=1", 0.004}, {"stages=2", 0.003}});
  add_run("on", "two", "gpu", {{"stages=1", 0.004}, {"stages=2", 0.0035}});
  const CommandOutput done = memory("benefit", {"--without", folder("off").string(), "--with", folder("on").string()});
  EXPECT_EQ(done.exit.code, 0) << done.err;
  EXPECT_NE(done.out.find("left out, since one arm lacks them: taught"), std::string::npos) << done.out;
  EXPECT_EQ(done.out.find("predicted"), std::string::npos) << done.out;
  const Result<Json> json = parse_json(
      memory("benefit", {"--without", folder("off").string(), "--with", folder("on").string(), "--json"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->at("problems").at(0).at("without").as_double(), 4);
  EXPECT_EQ(json->at("problems").at(0).at("with").as_double(), 2);
  EXPECT_EQ(json->at("problems").at(1).at("with").as_double(), 3) << "it did not get there in 2";
  EXPECT_EQ(json->at("problems").at(1).at("unreached_with").as_double(), 1);
  EXPECT_NEAR(json->at("ratio").as_double(), std::sqrt(0.5 * 1.5), 1e-9);
  EXPECT_NEAR(json->at("end").at("ratio").as_double(), std::sqrt(0.003 / 0.0035), 1e-9);
  EXPECT_EQ(json->at("end").at("problems").as_int(), 2);
  EXPECT_EQ(json->at("far").at("problems").as_int(), 0) << "no bound is known";
  EXPECT_EQ(memory("benefit", {"--with", folder("on").string()}).exit.code, 2);
  EXPECT_EQ(memory("benefit", {"--without", folder("empty").string(), "--with", folder("on").string()}).exit.code, 2);
}

}  // namespace
}  // namespace solstice::cli
