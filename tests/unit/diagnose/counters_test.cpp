// The source of counters with an ncu and a runner that are played (tests/support/ncu): the whole path but the GPU.
#include "diagnose/counters/counters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <tuple>

#include "base/file.h"
#include "base/process/subprocess.h"
#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/launch_batch.h"
#include "diagnose/counters/ncu.h"
#include "diagnose/counters/ncu_failure.h"
#include "run/runner_process.h"

namespace solstice::diagnose {
namespace {

namespace fs = std::filesystem;

Step launch_of(const std::string& name, const std::string& entry, Phase phase = Phase::kLaunch) {
  Step out;
  out.name = name;
  out.entry = entry;
  out.module = "m";
  out.phase = phase;
  out.grid = out.block = {1024, 1, 1};  // as the recorded one
  return out;
}

Plan plan_with(std::vector<Step> steps) {
  Plan out;
  out.program = "p";
  out.target = "sm_90a";
  out.modules = {{"m", "m.cubin", "", ""}};
  out.steps = std::move(steps);
  return out;
}

class Counters : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"ncu", "runner", "raw.csv", "source.csv", "metrics.csv"}) {
      fs::copy(fs::path(SOLSTICE_SOURCE_DIR) / "tests/support/ncu" / file, folder_.path() / file);
    }
    write("behaviour", "ok");
    write("plan.json", to_json(plan_with({launch_of("up", "honest"), launch_of("down", "honest")})).dump());
    request_.plan = folder_.path() / "plan.json";
    request_.steps = {"up"};
    request_.ncu = folder_.path() / "ncu";
    request_.limits = {Seconds(5), Seconds(5), Seconds(5)};
  }

  void write(const char* file, const std::string& text) {
    const Status written = write_file(folder_.path() / file, text);
    EXPECT_TRUE(written.ok()) << written.error().text();
  }
  // A program whose launches run in this order: step, kernel and blocks; ncu takes 1, 2, .. us for them.
  void plan_of(const std::vector<std::tuple<std::string, std::string, int64_t>>& launches) {
    std::vector<Step> steps;
    std::string lines;
    for (const auto& [name, kernel, blocks] : launches) {
      steps.push_back(launch_of(name, kernel));
      steps.back().grid = {blocks, 1, 1};
      lines += fmt::format("{} {} {}\n", kernel, 1000 * steps.size(), blocks);
    }
    write("plan.json", to_json(plan_with(std::move(steps))).dump());
    write("launches", lines);
  }
  // Of the launch of a step, in microseconds.
  static double time_of(const CounterRun& run, const char* step) {
    const auto found = run.steps.find(step);
    return found == run.steps.end() ? 0 : 1e6 * counter_value(found->second, "gpu__time_duration.sum").value_or(-1);
  }
  std::string asked() const {
    const auto text = read_file(folder_.path() / "asked");
    return text.ok() ? *text : "";
  }

  // What a judge does, without a GPU.
  Result<run::ProfiledRun> work(const run::Profiler& profiler, const run::ProfileLimits& limits) {
    run::RunnerOptions options;
    options.program = folder_.path() / "runner";
    options.start_limit = limits.start;
    options.profiler = profiler;
    SOLSTICE_TRY(run::RunnerProcess runner, run::RunnerProcess::spawn(options));
    SOLSTICE_CHECK(runner.hello());
    SOLSTICE_CHECK(runner.load({request_.plan.string(), 1, 0, ""}));
    SOLSTICE_CHECK(runner.prepare({0, limits.work}));
    SOLSTICE_CHECK(runner.run({0, limits.work}));
    run::ProfiledRun out;
    SOLSTICE_TRY(out.end, runner.finish(limits.end));
    return out;
  }

  CounterRun counters() {
    Result<CounterRun> out = counters_of(request_, [this](const auto& profiler, const auto& limits) {
      folders_.push_back(profiler.folder);
      return work(profiler, limits);
    });
    EXPECT_TRUE(out.ok()) << out.error().text();
    return out.ok() ? *std::move(out) : CounterRun();
  }

  TempFolder folder_ = std::move(TempFolder::create("counters-test-")).value();
  CounterRequest request_;
  std::vector<fs::path> folders_;
};

TEST_F(Counters, OfALaunchAreRead) {
  std::string raw = *read_file(folder_.path() / "raw.csv");
  raw.replace(raw.find("\"8,390,656\""), 11, "\"n/a\"");
  write("raw.csv", raw);
  const CounterRun run = counters();
  EXPECT_EQ(run.source.name, "counters");
  EXPECT_TRUE(run.source.there);
  EXPECT_EQ(run.source.why, "up: dram__bytes_read.sum: ncu says `n/a`");
  EXPECT_EQ(run.source.opens, "");
  EXPECT_EQ(run.version, "2025.3.1.0");
  EXPECT_EQ(run.notes, std::vector<std::string>{"up: dram__bytes_read.sum: ncu says `n/a`"});
  const CounterFacts& up = run.steps.at("up");
  EXPECT_EQ(counter_value(up, "sm__cycles_elapsed.max"), 12316);
  EXPECT_EQ(counter_value(up, "dram__bytes_read.sum"), std::nullopt);
  ASSERT_FALSE(up.hot.empty());
  EXPECT_EQ(up.hot[0].address, 0x100);
  const double sum = std::accumulate(up.stalls.begin(), up.stalls.end(), 0.0,
                                     [](double all, const auto& stall) { return all + stall.second; });
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_NEAR(up.stalls.at("long_scoreboard"), 328.0 / 512, 1e-9);
}

TEST_F(Counters, AreAskedOfTheOneLaunchAsItRunsInATrial) {
  request_.steps = {"down"};
  request_.metrics = {"dram__bytes_read.sum"};
  EXPECT_TRUE(counters().source.there);
  for (const char* option : {"--kernel-name honest", "--kernel-name-base mangled", "--launch-skip 1",
                             "--launch-count 1", "--cache-control all", "--clock-control none", "--replay-mode kernel",
                             "--metrics dram__bytes_read.sum\n", "--section SolsticeWarpStates"}) {
    EXPECT_NE(asked().find(option), std::string::npos) << option;
  }
  // Nothing is left behind, and the runner may not write where ncu's report is.
  ASSERT_EQ(folders_.size(), 1u);
  EXPECT_EQ(folders_[0].filename(), "shared");
  EXPECT_FALSE(fs::exists(folders_[0].parent_path()));
}

TEST_F(Counters, KeepWhatNcuSaidWhereThatIsAsked) {
  request_.keep = folder_.path() / "kept";
  EXPECT_TRUE(counters().source.there);
  EXPECT_EQ(*read_file(request_.keep / "up.raw.csv"), *read_file(folder_.path() / "raw.csv"));
  EXPECT_EQ(*read_file(request_.keep / "up.source.csv"), *read_file(folder_.path() / "source.csv"));
  EXPECT_NE(read_file(request_.keep / "up.log")->find("==PROF== Report"), std::string::npos);
}

TEST_F(Counters, WithoutTheSamplerStallsAreTheHardwares) {
  request_.sampling = false;
  std::string raw = *read_file(folder_.path() / "raw.csv");
  for (size_t at = 0; (at = raw.find("smsp__pcsamp", at)) != std::string::npos;) raw.replace(at, 12, "other_______");
  write("raw.csv", raw);
  const CounterRun run = counters();
  EXPECT_EQ(asked().find("--section"), std::string::npos);
  EXPECT_TRUE(run.steps.at("up").hot.empty());
  EXPECT_DOUBLE_EQ(run.steps.at("up").stalls.at("long_scoreboard"), 0.6413);
}

TEST_F(Counters, ThatThisNcuLacksAreLeftOutAndNamed) {
  request_.metrics = {"dram__bytes_read.sum", "sm__no_such_counter.sum"};
  const CounterRun run = counters();
  EXPECT_TRUE(run.source.there);
  EXPECT_EQ(run.notes, std::vector<std::string>{"sm__no_such_counter.sum: this ncu has no such counter on sm_90a"});
  EXPECT_EQ(run.steps.at("up").metrics.size(), 1u);
}

TEST_F(Counters, ThatNcuRefusesByNameAreTriedWithoutIt) {
  write("behaviour", "refuses");
  write("refused", "dram__bytes_read.sum");
  request_.metrics = {"dram__bytes_read.sum", "dram__bytes_write.sum"};
  const CounterRun run = counters();
  EXPECT_TRUE(run.source.there) << run.source.why;
  EXPECT_EQ(run.notes, std::vector<std::string>{"dram__bytes_read.sum: this ncu refuses it"});
  EXPECT_EQ(run.steps.at("up").metrics.count("dram__bytes_write.sum"), 1u);
}

TEST_F(Counters, NeedPermission) {
  write("behaviour", "fails");
  write("words", "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n");
  request_.steps = {"up", "down"};
  const CounterRun run = counters();
  EXPECT_FALSE(run.source.there);
  EXPECT_NE(run.source.why.find("ERR_NVGPUCTRPERM"), std::string::npos) << run.source.why;
  EXPECT_NE(run.source.opens.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_NE(run.source.opens.find("https://developer.nvidia.com/ERR_NVGPUCTRPERM"), std::string::npos);
  EXPECT_EQ(folders_.size(), 1u) << "no other launch would fare better";
}

TEST_F(Counters, NeedANcu) {
  request_.ncu = folder_.path() / "nowhere";
  const CounterRun run = counters();
  EXPECT_FALSE(run.source.there);
  EXPECT_FALSE(run.source.why.empty());
}

TEST_F(Counters, OfARunnerThatDiesUnderNcuAreMissing) {
  write("behaviour", "dies");
  const CounterRun run = counters();
  EXPECT_FALSE(run.source.there);
  EXPECT_NE(run.source.why.find("did not survive ncu"), std::string::npos) << run.source.why;
  EXPECT_NE(run.source.why.find("11"), std::string::npos) << run.source.why;
  EXPECT_FALSE(run.source.opens.empty());
}

TEST_F(Counters, OfANcuThatHangsAreGivenUp) {
  write("behaviour", "hangs");
  request_.limits.start = Seconds(1);
  const CounterRun run = counters();
  EXPECT_FALSE(run.source.there);
  EXPECT_NE(run.source.why.find("did not end in time"), std::string::npos) << run.source.why;
  EXPECT_EQ(run.source.opens, "a longer limit, or fewer counters");
  // What it started in a process group of its own is gone too.
  const auto child = read_file(folder_.path() / "child");
  ASSERT_TRUE(child.ok());
  const pid_t pid = static_cast<pid_t>(std::stol(*child));
  for (int i = 0; i < 100 && ::kill(pid, 0) == 0; ++i) ::usleep(20000);
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(Counters, OfOneStepMayBeMissing) {
  request_.all = Seconds(0);
  EXPECT_EQ(counters().source.why, "`up`: no time was left");
  EXPECT_EQ(counters().source.missing, (std::map<std::string, std::string>{{"up", "no time was left"}}));
  EXPECT_NE(counters().source.opens.find("--counter-time"), std::string::npos);
  request_.all = Seconds(60);
  request_.stop = [] { return true; };
  EXPECT_EQ(counters().source.why, "`up`: no time was left");
}

TEST_F(Counters, OfAnEmptyReportAreMissing) {
  write("raw.csv", "==WARNING== nothing\n");
  write("source.csv", "");
  const CounterRun run = counters();
  EXPECT_FALSE(run.source.there);
  EXPECT_NE(run.source.why.find("holds none"), std::string::npos) << run.source.why;
}

TEST_F(Counters, NeedALaunchOfThePlan) {
  request_.steps = {"sideways"};
  const auto run = counters_of(request_, [](const auto&, const auto&) -> Result<run::ProfiledRun> {
    ADD_FAILURE() << "nothing is to be run";
    return run::ProfiledRun();
  });
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, Code::bad_argument);
  EXPECT_NE(run.error().message.find("sideways"), std::string::npos);
}

// One start of ncu and of CUDA, whatever the order in which the steps are wanted.
TEST_F(Counters, OfSeveralStepsAreReadByOneProcess) {
  plan_of({{"a", "one", 8}, {"b", "two", 8}, {"c", "other", 8}, {"d", "one", 16}});
  request_.steps = {"d", "a", "b"};
  const CounterRun run = counters();
  EXPECT_TRUE(run.source.there);
  EXPECT_EQ(run.source.why, "");
  EXPECT_EQ(run.processes, 1u);
  for (const char* option : {"--kernel-name regex:^(one|two)$", "--launch-skip 0", "--launch-count 3"})
    EXPECT_NE(asked().find(option), std::string::npos) << option;
  EXPECT_NEAR(time_of(run, "a"), 1, 1e-9);
  EXPECT_NEAR(time_of(run, "b"), 2, 1e-9);
  EXPECT_NEAR(time_of(run, "d"), 4, 1e-9);
  EXPECT_EQ(run.steps.at("d").passes, 7);
  for (const auto& [step, facts] : run.steps) {
    EXPECT_FALSE(facts.hot.empty()) << step;
    EXPECT_FALSE(facts.stalls.empty()) << step;
  }
}

TEST_F(Counters, OfLaunchesInBetweenAreNobodys) {
  plan_of({{"a", "one", 8}, {"b", "one", 8}, {"c", "one", 8}, {"d", "one", 8}});
  request_.steps = {"d", "b"};
  const CounterRun run = counters();
  EXPECT_NE(asked().find("--launch-skip 1\n"), std::string::npos);
  EXPECT_NE(asked().find("--launch-count 3\n"), std::string::npos);
  EXPECT_EQ(run.steps.size(), 2u);
  EXPECT_NEAR(time_of(run, "b"), 2, 1e-9);
  EXPECT_NEAR(time_of(run, "d"), 4, 1e-9);
}

TEST_F(Counters, ThatASharedProcessDoesNotBringAreReadAlone) {
  write("behaviour", "alone");
  plan_of({{"a", "one", 8}, {"b", "two", 8}, {"c", "other", 8}});
  request_.steps = {"a", "b", "c"};
  const CounterRun run = counters();
  EXPECT_EQ(run.processes, 4u);
  EXPECT_EQ(run.source.why, "");
  EXPECT_TRUE(run.source.missing.empty());
  EXPECT_NEAR(time_of(run, "b"), 2, 1e-9);
  EXPECT_EQ(run.steps.size(), 3u);
}

// Two launches that look the same cannot be told apart where one is missing; the third can.
TEST_F(Counters, OfALaunchThatCannotBeToldAreNotGuessed) {
  write("behaviour", "loses");
  plan_of({{"a", "one", 8}, {"b", "one", 8}, {"c", "other", 8}});
  request_.steps = {"a", "b", "c"};
  const CounterRun run = counters();
  EXPECT_EQ(run.processes, 3u) << "one for all, and one each for `a` and `b`";
  EXPECT_NEAR(time_of(run, "a"), 1, 1e-9);
  EXPECT_NEAR(time_of(run, "b"), 2, 1e-9);
  EXPECT_NEAR(time_of(run, "c"), 3, 1e-9);
}

// A program of many kernels ends in time: a process is given as many as it may be expected to read.
TEST_F(Counters, OfManyKernelsEndAfterTheirTime) {
  std::vector<std::tuple<std::string, std::string, int64_t>> launches;
  for (int i = 0; i < 300; ++i) {
    launches.emplace_back(fmt::format("k{}", i), fmt::format("f{}", i), 8);
    request_.steps.push_back(fmt::format("k{}", i));
  }
  request_.steps.erase(request_.steps.begin());  // "up"
  plan_of(launches);
  write("starts", "0.5");
  request_.all = Seconds(1.5);
  request_.sampling = false;
  const CounterRun run = counters();
  EXPECT_TRUE(run.source.there);
  EXPECT_GE(run.steps.size(), 8u);
  EXPECT_LT(run.steps.size(), 300u);
  EXPECT_EQ(run.steps.size() + run.source.missing.size(), 300u);
  EXPECT_EQ(run.source.missing.at("k299"), "no time was left");
  EXPECT_LT(run.took.value, 15) << "of which 1.5 s are its own, the rest a busy machine's";
}

TEST_F(Counters, OfAnotherKernelThanWasAskedForAreNone) {
  plan_of({{"a", "one", 8}});
  write("launches", "one 1000 9\n");
  request_.steps = {"a"};
  const CounterRun run = counters();
  EXPECT_FALSE(run.source.there);
  EXPECT_NE(run.source.why.find("cannot be told apart"), std::string::npos) << run.source.why;
}

TEST_F(Counters, OfTheRestAreNamedWhereOneHangs) {
  write("behaviour", "hangs");
  plan_of({{"a", "one", 8}, {"b", "two", 8}});
  request_.steps = {"a", "b"};
  request_.limits.start = Seconds(1);
  const CounterRun run = counters();
  EXPECT_EQ(run.processes, 3u);
  EXPECT_EQ(run.source.missing.size(), 2u);
  EXPECT_NE(run.source.missing.at("b").find("did not end in time"), std::string::npos);
}

TEST(LaunchBatch, CountsThoseOfThePreparationFirst) {
  const Plan plan = plan_with(
      {launch_of("a", "k"), launch_of("pack", "k", Phase::kPrepare), launch_of("b", "other"), launch_of("c", "k")});
  const auto skip = [&](int step) { return batch_of(plan, {&plan.steps[static_cast<size_t>(step)]}, 1).skip; };
  EXPECT_EQ(skip(1), 0);
  EXPECT_EQ(skip(0), 1);
  EXPECT_EQ(skip(2), 0);
  EXPECT_EQ(skip(3), 2);
}

std::vector<std::string> names_in(const std::vector<const Step*>& steps) {
  std::vector<std::string> out;
  for (const Step* step : steps) out.push_back(step->name);
  return out;
}

TEST(LaunchBatch, HasWhatFitsTheFirstThatIsWanted) {
  const Plan plan = plan_with({launch_of("a", "k"), launch_of("b", "n.x$y"), launch_of("c", "k"), launch_of("d", "k"),
                               launch_of("e", "k"), launch_of("f", "m")});
  const auto& step = plan.steps;
  const LaunchBatch batch = batch_of(plan, {&step[0], &step[4], &step[1], &step[2]}, 3);
  EXPECT_EQ(names_in(batch.wanted), (std::vector<std::string>{"a", "b", "c"})) << "`e` is far away";
  EXPECT_EQ(names_in(batch.launches), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(name_filter(batch), "regex:^(k|n\\.x\\$y)$");
  EXPECT_EQ(name_filter(batch_of(plan, {&step[1]}, 3)), "n.x$y") << "no expression";
  EXPECT_EQ(batch_of(plan, {&step[0], &step[4]}, 1).launches.size(), 1u);
}

struct FailureCase {
  const char* log;
  const char* why;
  bool of_all;
  bool opens = of_all;
};

TEST(NcuFailure, IsKnownByItsWords) {
  const FailureCase cases[] = {
      {"==ERROR== ERR_NVGPUCTRPERM - The user does not\n", "ERR_NVGPUCTRPERM", true},
      {"==ERROR== Failed to open/create lock file /tmp/nvidia/nsight_compute/lock. Please\n==ERROR== "
       "InterprocessLockFailed\n",
       "could not open its lock file: Failed to open/create lock file /tmp/nvidia/nsight_compute/lock", true},
      {"==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool\n",
       "another tool", true},
      {"==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on path?).\n",
       "no CUDA driver", true},
      {"==ERROR== Insufficient free memory for profiling on the device.\n", "too little free memory", false, true},
      {"==WARNING== No kernels were profiled.\n", "saw no launch of `copy`", false},
      {"==ERROR== Something new\n==ERROR== Something else\n", "ncu: Something new", false},
      {"", "left no report of `copy`: it exited with code 9", false},
  };
  run::ProfiledRun run;
  run.end.exit.code = 9;
  for (const FailureCase& one : cases) {
    const NcuFailure failure = explain_failure(one.log, run, "`copy`");
    EXPECT_NE(failure.why.find(one.why), std::string::npos) << failure.why;
    EXPECT_EQ(failure.of_all, one.of_all) << one.log;
    EXPECT_EQ(failure.opens.empty(), !one.opens) << one.log;
  }
}

TEST(NcuFailure, NamesTheCaseThatFailed) {
  run::ProfiledRun run;
  run.verdict.outcome = Outcome::kHung;
  run.verdict.message = "the GPU did not finish";
  const NcuFailure failure = explain_failure("", run, "`copy`");
  EXPECT_NE(failure.why.find("the GPU did not finish"), std::string::npos);
  EXPECT_FALSE(failure.opens.empty());
}

TEST(NcuFailure, RefusedMetricsAreWholeWords) {
  const std::vector<std::string> metrics = {"a__b.sum", "a__b.sum.per_second", "c__d.avg"};
  const std::set<std::string> refused =
      refused_metrics("==ERROR== Failed to find metric a__b.sum.per_second\n", metrics);
  EXPECT_EQ(refused, std::set<std::string>{"a__b.sum.per_second"});
  EXPECT_TRUE(refused_metrics("==ERROR== another error about c__d.avg\n", metrics).empty());
}

TEST(Ncu, NamesTheChipOfAnArchitecture) {
  EXPECT_EQ(ncu_chip("sm_90a"), "gh100");
  EXPECT_EQ(ncu_chip("sm_80"), "ga100");
  EXPECT_EQ(ncu_chip("sm_999"), "");
  EXPECT_EQ(ncu_chip(""), "");
}

TEST(Ncu, IsTheOneThatIsNamed) {
  ::setenv("SOLSTICE_NCU", "/bin/sh", 1);
  EXPECT_EQ(find_ncu()->string(), "/bin/sh");
  ::setenv("SOLSTICE_NCU", "/no/such/ncu", 1);
  const auto found = find_ncu();
  ::unsetenv("SOLSTICE_NCU");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::not_found);
  EXPECT_NE(found.error().message.find("/no/such/ncu"), std::string::npos);
}

}  // namespace
}  // namespace solstice::diagnose
