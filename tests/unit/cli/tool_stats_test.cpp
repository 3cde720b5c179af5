// solstice list tools --stats over a store that was written here.
#include "flow/run/state/facts.h"
#include "record/diagnosis/finding.h"
#include "store/store.h"
#include "unit/cli/program.h"

namespace solstice::cli {
namespace {

using search::Event;

class ToolStatsTest : public ProgramTest {
 protected:
  std::filesystem::path folder() const { return folder_.path() / "store"; }
  CommandOutput stats(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"list", "tools", "--stats", "--store", folder().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(std::move(arguments));
  }

  static std::string with(const std::string& knobs) {
    return "program p\ndim N = 4194304\ninput x : f32[N]\noutput y : f32[N]\n\nkernel a by map(" + knobs +
           ") {\n  y[n] = exp(x[n])\n}\n";
  }

  static Json advised(const std::string& tool, const std::string& knob, const std::string& value, double bound) {
    Finding finding;
    finding.tool = tool;
    finding.place.kernel = "a";
    finding.cause = "so";
    finding.evidence = {{"quantity", 1, "", "plan"}};
    finding.actions = {{ActionKind::kKnobs, "so", "a", {{knob, value}}, ""}};
    finding.gain = {bound, bound, "so"};
    return to_json(finding);
  }

  // A search of three trials: from the first, with two findings, one that is twice as fast and one that is slower.
  std::string add_run() {
    Result<store::Store> store = store::Store::open(folder());
    EXPECT_TRUE(store.ok());
    RunRecord record;
    record.problem = "p";
    record.policy = "greedy";
    record.machine = "h200";
    record.device = "NVIDIA H200";
    const std::string id = *store->begin_run(record);
    size_t number = 0;
    const auto add = [&](const Event& event) { EXPECT_TRUE(store->add_event(id, number++, event).ok()); };
    const auto trial = [&](int node, int parent, const std::string& program, double time, const Json& findings) {
      add({.kind = Event::Kind::kProposed,
           .node = node,
           .proposal = search::Proposal{.program = program, .parent = parent}});
      search::Measurement m{.state = TrialState::kVerified, .time = Seconds(time), .record = Json::object()};
      m.record.set("findings", findings).set("classes", Json::object().set("a", "dram"));
      add({.kind = Event::Kind::kMeasured, .node = node, .measurement = m});
    };
    add({.kind = Event::Kind::kMeasured,
         .node = 0,
         .measurement = search::Measurement{.state = TrialState::kVerified, .time = Seconds(8)}});
    trial(
        1, 0, with("vector=1"), 4,
        Json::array().push(advised("narrow loads", "vector", "4", 2.5)).push(advised("small grid", "unroll", "8", 3)));
    trial(2, 1, with("vector=4"), 2, Json::array());
    trial(3, 1, with("vector=1, unroll=8"), 5, Json::array());
    EXPECT_TRUE(store->finish_run(id, RunState::kFinished, RunOutcome::kFaster, "", Json::object()).ok());
    return id;
  }
};

TEST_F(ToolStatsTest, CountsWhatAdviceCameToAndNamesWhatNeverHelped) {
  add_run();
  const CommandOutput json = stats({"--json"});
  ASSERT_TRUE(json.exit.ok()) << json.err;
  const Json found = *parse_json(json.out);
  ASSERT_EQ(found.at("tools").size(), 2u);
  const Json& loads = found.at("tools").items()[0];
  EXPECT_EQ(loads.at("tool").as_string(), "narrow loads");
  EXPECT_EQ(loads.at("class").as_string(), "dram");
  EXPECT_EQ(loads.at("machine").as_string(), "h200");
  EXPECT_EQ(loads.at("hits").as_int(), 1);
  EXPECT_EQ(loads.at("median_gain").as_double(), 2);
  EXPECT_EQ(loads.at("over_bound").as_double(), 0.8);
  EXPECT_EQ(found.at("never_hit").items()[0].as_string(), "small grid");
  const CommandOutput text = stats();
  EXPECT_NE(text.out.find("acted on, and never a gain: small grid"), std::string::npos) << text.out;
}

// What orders the searches that follow.
TEST_F(ToolStatsTest, FactsKeepTheFindingsWhoseMoveTheyAre) {
  add_run();
  Result<store::Store> store = store::Store::open(folder());
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE(flow::rebuild_facts(*store).ok());
  const Result<std::vector<Fact>> facts = store->facts("h200");
  ASSERT_TRUE(facts.ok());
  ASSERT_EQ(facts->size(), 2u);
  EXPECT_EQ((*facts)[0].advised, (std::vector<Advised>{{"narrow loads", 2.5}}));
  EXPECT_EQ((*facts)[1].advised, (std::vector<Advised>{{"small grid", 3}}));
}

TEST_F(ToolStatsTest, WithoutFindingsThereIsNothingToCount) {
  ASSERT_TRUE(store::Store::open(folder()).ok());
  EXPECT_NE(stats().out.find("no measured trial with findings in "), std::string::npos);
}

}  // namespace
}  // namespace solstice::cli
