// solstice replay over a store that was written here.
#include "store/store.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

using search::Event;

class ReplayTest : public ProgramTest {
 protected:
  std::filesystem::path folder() const { return folder_.path() / "store"; }
  CommandOutput replay(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "replay");
    arguments.insert(arguments.end(), {"--store", folder().string()});
    return run(std::move(arguments));
  }

  // Children of the problem, which takes 8 s; each trial costs 1 s.
  void add_run(const std::string& problem, const std::vector<double>& times, const Json& summary) {
    Result<store::Store> store = store::Store::open(folder());
    ASSERT_TRUE(store.ok());
    RunRecord record;
    record.problem = problem;
    record.policy = "greedy(starts=1000)";
    const std::string id = *store->begin_run(record);
    size_t number = 0;
    const auto add = [&](const Event& event) { ASSERT_TRUE(store->add_event(id, number++, event).ok()); };
    const auto measured = [&](int node, double time) {
      search::Measurement m;
      m.state = TrialState::kVerified;
      m.time = Seconds(time);
      m.cost = Seconds(1);
      add({.kind = Event::Kind::kMeasured, .node = node, .measurement = m});
    };
    measured(0, 8);
    for (size_t i = 0; i < times.size(); ++i) {
      const int node = static_cast<int>(i) + 1;
      add({.kind = Event::Kind::kProposed,
           .node = node,
           .proposal = search::Proposal{.program = std::to_string(node)}});
      measured(node, times[i]);
    }
    ASSERT_TRUE(store->finish_run(id, RunState::kFinished, RunOutcome::kFaster, "", summary).ok());
  }
};

TEST_F(ReplayTest, PrintsATableAndDrawsIt) {
  const Json summary = Json::object().set("original", 8.0).set("bounds", Json::object().set("practical", 1.0));
  add_run("one", {4, 2, 2, 2}, summary);
  add_run("two", {8, 4, 4, 1}, summary);
  const std::string svg = (folder_.path() / "replay.svg").string();
  const CommandOutput done =
      replay({"--policy", "random", "--eps", "1", "--window", "1,2", "--schedule", "log-gain", "--svg", svg});
  ASSERT_EQ(done.exit.code, 0) << done.err;
  EXPECT_NE(done.out.find("eps 1, window 2"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("a replayed policy chooses among recorded candidates alone"), std::string::npos);
  const Result<std::string> drawn = read_file(svg);
  ASSERT_TRUE(drawn.ok());
  EXPECT_TRUE(drawn->starts_with("<svg ") && drawn->ends_with("</svg>\n"));
  EXPECT_EQ(drawn->find("nan"), std::string::npos);
}

// one stops after 3 trials (2 s is within eps at 2: after 2), two after 4; hindsight: 2 and 4.
TEST_F(ReplayTest, ReadsBoundsFromTheSummary) {
  const Json summary = Json::object().set("original", 8.0).set("bounds", Json::object().set("practical", 1.0));
  add_run("one", {4, 2, 2, 2}, summary);
  add_run("two", {8, 4, 4, 1}, summary);
  const CommandOutput done = replay({"--eps", "1", "--json"});
  const Result<Json> json = parse_json(done.out);
  ASSERT_TRUE(json.ok()) << done.out << done.err;
  const Json& row = json->at("stops").at(2);
  EXPECT_EQ(row.at("rule").as_string(), "eps 1");
  EXPECT_DOUBLE_EQ(row.at("retention").as_double(), 1);
  EXPECT_DOUBLE_EQ(row.at("saved_seconds").as_double(), 0.25);
  EXPECT_DOUBLE_EQ(row.at("over").as_double(), 0);
  const Result<Json> one = parse_json(replay({"--problem", "one", "--json"}).out);
  EXPECT_EQ(one->at("runs").size(), 1u);
}

TEST_F(ReplayTest, SaysWhatIsMissing) {
  EXPECT_NE(replay({}).exit.code, 0);  // an empty store
  add_run("one", {4, 2}, Json::object());
  const CommandOutput done = replay({"--eps", "1"});
  EXPECT_EQ(done.exit.code, 0);
  EXPECT_NE(done.out.find("eps is left out"), std::string::npos) << done.out;
  // An option that may be repeated takes one value each time, so that the run may follow.
  EXPECT_EQ(replay({"--policy", "random", "--policy", "greedy", "last"}).exit.code, 0);
  EXPECT_EQ(replay({"--policy", "rnadom", "last"}).exit.code, 2);
  EXPECT_EQ(replay({"--cost", "tokens"}).exit.code, 2);
  EXPECT_EQ(replay({"--budget", "8"}).exit.code, 2);
  EXPECT_EQ(replay({"--window", "0"}).exit.code, 2);
}

}  // namespace
}  // namespace solstice::cli
