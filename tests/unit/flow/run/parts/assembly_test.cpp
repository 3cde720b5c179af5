#include "flow/run/parts/assembly.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "flow/run/state/engine.h"
#include "run/timing_stats.h"
#include "scripted_oracle.h"

namespace solstice::flow {
namespace {
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr const char* kPasses =
    R"({"passed":true,"strict":true,"state_dict":"loads","trials":[],"constant":"","fallbacks":[]})";
constexpr const char* kFails = R"({"passed":false,"strict":false,"state_dict":"loads","trials":[{"seed":1,)"
                               R"("passed":false,"reason":"elements differ","max_excess":9.0}],"fallbacks":[]})";

// A comparison whose drop-in takes `ours` seconds, the original `theirs`.
std::string compared(double theirs, double ours) {
  Json blocks = Json::array();
  for (int i = 0; i < 4 * run::kHeadlineRounds; ++i) {
    const bool original = i % 4 == 0 || i % 4 == 3;
    Json seconds = Json::array();
    for (int k = 0; k < run::kHeadlineRepetitions; ++k) seconds.push((original ? theirs : ours) * (1 + 1e-4 * k));
    blocks.push(Json::object().set("side", original ? "original" : "drop-in").set("seconds", seconds));
  }
  return Json::object()
      .set("blocks", blocks)
      .set("fallbacks", Json::array())
      .set("fresh_content", false)
      .set("compared", 2 * run::kHeadlineRounds * run::kHeadlineRepetitions)
      .set("excess", 0.5)
      .dump();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Measured of(double seconds) {
  Measured out;
  out.median = Seconds(seconds);
  return out;
}

CutStage cut_stage(int number, double seconds, bool decides = false) {
  return {number, fmt::format("linear{}", number), {fmt::format("call{}", number)}, {}, Seconds(seconds), decides};
}

class AssemblyTest : public ::testing::Test {
 protected:
  AssemblyTest() {
    opened_.machine.arch = "sm_90a";
    whole_.graph.structure = Json::object();
    run_.folders.fresh = folder_.path() / "out/.fresh";
    run_.folders.out = folder_.path() / "out";
    run_.engine.oracle.emplace(std::make_unique<ScriptedOracle>(script_), run::OracleLimits());
    script_.replies["schedule"] = {R"({"schedule":{"steps":[]}})"};
    script_.replies["check_dropin"] = {kPasses};
    script_.replies["time_dropin"] = {compared(10e-3, 5e-3)};
    script_.timed["time_dropin"] = 4 * run::kHeadlineRounds;
    script_.replies["prepare_inputs"] = {R"({"applies":true,"inputs":[]})"};
    script_.replies["memory"] = {R"({"resident_bytes":1,"peak_bytes":2})"};
    script_.replies["time_calls"] = {R"({"calls":[{"name":"topk","seconds":0.002}]})"};
    cut_.calls = {{"topk", "aten.topk.default", "a decision", Seconds(1e-3), "/src/model.py", 7}};
  }

  // A stage that was measured, with its folder: `ours` seconds where it is faster, else none.
  void measured(CutStage stage, double original, double ours) {
    Report report;
    report.outcome = ours < original ? RunOutcome::kFaster : RunOutcome::kNotFaster;
    report.reason = ours < original ? "" : "no win beyond noise";
    report.headline.original = of(original);
    report.headline.replacement = of(ours);
    report.headline.kernels = of(ours);
    add(std::move(stage), std::move(report));
  }

  void predicted(CutStage stage, double original, double ours) {
    Report report;
    report.predicted = true;
    report.outcome = RunOutcome::kPredicted;
    report.candidates.resize(2);
    report.candidates[0].state = "not compiled";  // no best, whatever is predicted for it
    report.candidates[0].predicted = Seconds(ours / 100);
    report.candidates[1].state = "predicted";
    report.candidates[1].predicted = Seconds(ours);
    stage.seconds = Seconds(original);
    add(std::move(stage), std::move(report));
  }

  void add(CutStage stage, Report report) {
    const fs::path folder = run_.folders.fresh / "stages" / fmt::format("stage_{}", stage.number);
    for (const char* name : {"plan.json", "k.cubin", "dropin.json", "model_new.py"})
      ASSERT_TRUE(write_file(folder / name, name).ok());
    cut_.stages.push_back(stage);
    stages_.push_back({std::move(stage), std::move(report), folder, "", false});
  }

  void add_failed(CutStage stage) {
    cut_.stages.push_back(stage);
    stages_.push_back({std::move(stage), {}, {}, "it failed: no memory", false});
  }

  Status finish(bool gpu) {
    opened_.gpu = gpu;
    Assembly assembly(run_, opened_, whole_, [] { return ClockReading(); });
    return assembly.finish(cut_, stages_);
  }

  // Files and folders of the outcome, one level deep.
  std::vector<std::string> left() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(run_.folders.fresh)) out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }

  int requests(const std::string& name) const {
    return static_cast<int>(std::count_if(script_.asked.begin(), script_.asked.end(),
                                          [&](const std::string& line) { return line.starts_with(name + " "); }));
  }

  Json record() const { return *parse_json(*read_file(run_.folders.fresh / "dropin.json")); }
  const Report& report() const { return run_.report; }

  TempFolder folder_ = std::move(TempFolder::create("assembly-")).value();
  OracleScript script_;
  SilentProgress silent_;
  Engine engine_;
  flow::Run run_{OptimizeOptions(), silent_, engine_.parts()};
  Opened opened_;
  Problem whole_;
  Cut cut_;
  std::vector<StageOutcome> stages_;
};

TEST_F(AssemblyTest, AStageIsAsFastAsItsRunFoundIt) {
  measured(cut_stage(1, 9e-3), 4e-3, 1e-3);
  measured(cut_stage(2, 9e-3), 4e-3, 5e-3);
  predicted(cut_stage(3, 9e-3), 4e-3, 1e-3);
  predicted(cut_stage(4, 9e-3), 4e-3, 5e-3);
  add_failed(cut_stage(5, 9e-3));
  const auto all = [this](auto get) {
    std::vector<decltype(get(stages_[0]))> out;
    for (const StageOutcome& stage : stages_) out.push_back(get(stage));
    return out;
  };
  using Times = std::vector<double>;
  EXPECT_EQ(all([](const StageOutcome& s) { return s.faster(); }),
            (std::vector<bool>{true, false, true, false, false}));
  EXPECT_EQ(all([](const StageOutcome& s) { return s.time().value; }), (Times{1e-3, 5e-3, 1e-3, 5e-3, 0}));
  EXPECT_EQ(all([](const StageOutcome& s) { return s.original().value; }), (Times{4e-3, 4e-3, 4e-3, 4e-3, 9e-3}));
  EXPECT_EQ(stages_[1].why_not(), "no win beyond noise");
  EXPECT_EQ(stages_[3].why_not(), "no gain is predicted for kernels of ours: 5 ms, where PyTorch takes 4 ms");
  EXPECT_EQ(stages_[4].why_not(), "it failed: no memory");
}

TEST_F(AssemblyTest, WithoutAGpuTimesAndTheDropInArePredicted) {
  predicted(cut_stage(1, 9e-3), 6e-3, 2e-3);
  predicted(cut_stage(2, 9e-3), 1e-3, 3e-3);
  cut_.predicted.original.device = cut_.predicted.original.time = Seconds(8e-3);
  opened_.machine = machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
  ASSERT_TRUE(finish(false).ok());
  EXPECT_EQ(report().outcome, RunOutcome::kPredicted);
  EXPECT_TRUE(says(report().reason,
                   "predicted 2x faster, 4 ms where PyTorch eager takes 8 ms: 1 of 3 parts are ours, "
                   "50 % of the 4 ms that all parts take"))
      << report().reason;
  ASSERT_EQ(report().parts.size(), 3u);
  const PartRow &ours = report().parts[0], &theirs = report().parts[1], &call = report().parts[2];
  EXPECT_TRUE(ours.ours && !theirs.ours && !call.ours);
  EXPECT_EQ(ours.what, "stage 1: linear1");
  EXPECT_EQ(theirs.time, Seconds(1e-3));
  EXPECT_EQ(call.place, "model.py:7");
  EXPECT_NEAR(ours.share + theirs.share + call.share, 1, 1e-9);
  EXPECT_TRUE(record().at("predicted").as_bool());
  EXPECT_EQ(record().at("schedule").at("stages").dump(), R"({"1":"stage_1"})");
  EXPECT_EQ(script_.asked, Names{"schedule {\"kept\":[1]}"});
  EXPECT_TRUE(report().baselines.empty());
}

TEST_F(AssemblyTest, NothingFasterIsToldStageByStage) {
  measured(cut_stage(1, 9e-3), 4e-3, 5e-3);
  add_failed(cut_stage(2, 9e-3));
  ASSERT_TRUE(finish(true).ok());
  EXPECT_EQ(report().outcome, RunOutcome::kNotFaster);
  EXPECT_EQ(report().reason,
            "none of its parts is faster in kernels of ours; stage 1 (linear1): no win beyond noise; "
            "stage 2 (linear2): it failed: no memory");
  EXPECT_EQ(left(), Names());
  EXPECT_EQ(script_.asked, Names());
}

// It is not known whether they are faster.
TEST_F(AssemblyTest, StagesThatHadNoTimeWereNotTried) {
  measured(cut_stage(1, 9e-3), 4e-3, 5e-3);
  Report late;
  late.out_of_time = true;
  late.outcome = RunOutcome::kNotFaster;
  add(cut_stage(2, 9e-3), std::move(late));
  cut_.stages.push_back(cut_stage(3, 9e-3));
  stages_.push_back({cut_.stages.back(), {}, {}, "not tried: the run was stopped before it", true});
  ASSERT_TRUE(finish(true).ok());
  EXPECT_TRUE(report().reason.starts_with("none of its parts is known to be faster in kernels of ours; stage 1"))
      << report().reason;
  EXPECT_TRUE(says(report().reason, "stage 2 (linear2): not tried for lack of time: ")) << report().reason;
  EXPECT_EQ(report().parts[0].outcome, "not faster");
  EXPECT_EQ(report().parts[1].outcome, "not tried");
  EXPECT_EQ(report().parts[2].outcome, "not tried");
}

// Launching what is left of PyTorch's calls takes longer than all kernels.
TEST_F(AssemblyTest, BothTotalsOfAPredictionAreExplained) {
  predicted(cut_stage(1, 9e-3), 6e-3, 2e-3);
  cut_.predicted.original.device = Seconds(7e-3);
  cut_.predicted.original.host = cut_.predicted.original.time = Seconds(20e-3);
  opened_.machine = machine::load_machine(std::string(SOLSTICE_SOURCE_DIR) + "/machines/h200.toml").value();
  ASSERT_TRUE(finish(false).ok());
  EXPECT_TRUE(says(report().reason,
                   "1 of 2 parts are ours, 67 % of the 3 ms that all parts take on the GPU alone (launching them on "
                   "the host takes longer)"))
      << report().reason;
}

TEST_F(AssemblyTest, AWinIsMeasuredWithThePartsOfBoth) {
  measured(cut_stage(1, 9e-3), 6e-3, 2e-3);
  ASSERT_TRUE(finish(true).ok());
  EXPECT_EQ(report().outcome, RunOutcome::kFaster);
  EXPECT_NEAR(report().headline.speedup, 2, 1e-6);
  EXPECT_EQ(report().replacement_peak_memory, Bytes(2));
  ASSERT_EQ(report().parts.size(), 2u);
  EXPECT_EQ(report().parts[1].time, Seconds(2e-3));
  EXPECT_FALSE(report().parts[1].predicted);
  EXPECT_EQ(record().at("parts").size(), 2u);  // those that were measured
  EXPECT_NEAR(record().at("parts").at(1).at("time").as_double(), 2e-3, 1e-12);
  for (const char* name : {"plan.json", "k.cubin", "dropin.json"})
    EXPECT_TRUE(fs::exists(run_.folders.fresh / "stage_1" / name)) << name;
  EXPECT_FALSE(fs::exists(run_.folders.fresh / "stage_1/model_new.py"));
  EXPECT_FALSE(fs::exists(run_.folders.fresh / "stages"));
  ASSERT_EQ(report().baselines.size(), 1u);  // the opponents were not asked for: there is no device
  EXPECT_EQ(report().baselines[0].time->median, report().headline.original->median);
}

TEST_F(AssemblyTest, OpponentsAreTimedAsOfAWholeModule) {
  run_.engine.hello.device.kind = "cuda";
  script_.replies["time_rivals"] = {R"({"rivals":[{"name":"PyTorch eager","seconds":[0.01],"error":null,"note":""},)"
                                    R"({"name":"torch.compile","seconds":[0.004],"error":1e-7,"note":""}]})"};
  measured(cut_stage(1, 9e-3), 6e-3, 2e-3);
  ASSERT_TRUE(finish(true).ok());
  ASSERT_EQ(report().baselines.size(), 2u);
  EXPECT_EQ(report().baselines[1].name, "torch.compile");
  EXPECT_NEAR(report().baselines[1].speedup, 2.5, 1e-6);
}

TEST_F(AssemblyTest, AnOracleThatDiesWhileCallsAreTimedCostsTheirTimes) {
  script_.dies_at = "time_calls";
  measured(cut_stage(1, 9e-3), 6e-3, 2e-3);
  const Status done = finish(true);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(report().outcome, RunOutcome::kFaster);
  EXPECT_TRUE(report().parts[1].predicted);
  EXPECT_EQ(report().parts[1].time, Seconds(1e-3));
  EXPECT_EQ(report().warnings.back(), "times of PyTorch's calls are predicted: the Python process is gone");
  EXPECT_EQ(record().at("parts").size(), 2u);
  EXPECT_TRUE(record().at("parts").at(1).at("predicted").as_bool());
  EXPECT_FALSE(run_.engine.oracle->sound());
}

TEST_F(AssemblyTest, AnOracleThatDiesBeforeTheDropInIsTimedEndsTheRun) {
  script_.dies_at = "check_dropin";
  measured(cut_stage(1, 9e-3), 6e-3, 2e-3);
  const Status done = finish(true);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::process_failed);
}

TEST_F(AssemblyTest, StagesThatDecideAreGivenUpWhereTheCheckFails) {
  script_.replies["check_dropin"] = {kFails, kPasses};
  measured(cut_stage(1, 9e-3, true), 6e-3, 2e-3);
  measured(cut_stage(2, 9e-3), 6e-3, 2e-3);
  ASSERT_TRUE(finish(true).ok());
  EXPECT_EQ(report().outcome, RunOutcome::kFaster);
  EXPECT_EQ(report().parts[0].why, "decisions of PyTorch's depend on its last bits");
  EXPECT_TRUE(!report().parts[0].ours && report().parts[1].ours);
  EXPECT_TRUE(says(report().warnings.at(0), "are not used: with them the drop-in fails KernelBench's check"))
      << report().warnings.at(0);
  EXPECT_FALSE(fs::exists(run_.folders.fresh / "stage_1"));
  EXPECT_EQ(record().at("schedule").at("stages").dump(), R"({"2":"stage_2"})");
  EXPECT_EQ(requests("enter_stage"), 1);
}

TEST_F(AssemblyTest, ADropInThatIsDeclinedLeavesNothing) {
  const auto declined = [this](const char* why) {
    stages_.clear();
    cut_.stages.clear();
    measured(cut_stage(1, 9e-3), 6e-3, 2e-3);
    ASSERT_TRUE(finish(true).ok());
    EXPECT_EQ(report().outcome, RunOutcome::kNotFaster);
    EXPECT_TRUE(says(report().reason, why)) << report().reason;
    EXPECT_EQ(left(), Names()) << why;
  };
  script_.replies["check_dropin"] = {kFails};
  declined("the drop-in fails KernelBench's check: seed 1: elements differ");
  script_.replies["check_dropin"] = {kPasses};
  script_.replies["time_dropin"] = {compared(10e-3, 10.1e-3)};
  declined("no win beyond noise");
  script_.replies["time_dropin"] = {compared(10e-3, 0.5e-3)};  // its stage's kernels alone take 2 ms
  declined("the drop-in's time is void");
}

}  // namespace
}  // namespace solstice::flow
