// A bench whose problems share one budget, on a machine that is told what each trial comes to.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/process/interrupt.h"
#include "flow/bench/bench.h"
#include "flow/bench/bench_files.h"
#include "record/verdict.h"

namespace solstice::flow {
namespace {

using Trees = std::map<std::string, search::Tree>;  // of runs, as a store keeps them

// What lies on the GPU.
struct Gpu {
  int open = 0;                 // searches
  std::set<std::string> large;  // their trials run only where nothing else is open
  std::string breaks;           // whose second trial breaks what all share
  bool broken = false;
};

// Trial n of a problem takes times[n]; after the last one there is none. Its run is named after the problem.
class TimesSearch : public BenchSearch {
 public:
  TimesSearch(std::string run, std::vector<double> times, Trees& trees, std::vector<std::string>& log, Gpu& gpu)
      : run_(std::move(run)), times_(std::move(times)), trees_(trees), log_(log), gpu_(gpu) {
    ++gpu_.open;
  }
  ~TimesSearch() override {
    --gpu_.open;
    log_.push_back("closed " + run_);
  }
  bool ready() const override { return !failed_; }
  const std::string& run() const override { return run_; }
  const search::Tree& tree() const override { return trees_.at(run_); }
  Seconds original() const override { return Seconds(8); }
  Seconds bound() const override { return Seconds(1); }
  std::optional<search::Stop> step() override {
    search::Tree& grown = trees_.at(run_);
    const auto trial = static_cast<size_t>(grown.trials());
    if (trial == times_.size()) return search::Stop::kExhausted;
    if (run_ == gpu_.breaks && trial == 1) gpu_.broken = true;
    failed_ = gpu_.broken;
    if (failed_) return search::Stop::kInterrupted;
    log_.push_back(run_);
    const int node = grown.add({.program = std::to_string(trial)})->id;
    search::Measurement out;
    out.state = TrialState::kVerified;
    out.time = Seconds(times_[trial]);
    out.cost = Seconds(1);
    if (gpu_.open > 1 && gpu_.large.contains(run_)) {
      out.state = TrialState::kCrashed;
      out.detail = "1 slots need 13 GB";
      Verdict verdict;
      verdict.outcome = Outcome::kOutOfMemory;
      out.record.set("verdict", to_json(verdict));
    }
    grown.complete(node, std::move(out));
    return std::nullopt;
  }
  Result<OptimizeOutcome> conclude() override {
    return failed_ ? fail(Code::cuda_error, "an illegal address")
                   : fail(Code::internal, "a search that is ready is closed instead");
  }

 private:
  bool failed_ = false;
  std::string run_;
  std::vector<double> times_;
  Trees& trees_;
  std::vector<std::string>& log_;
  Gpu& gpu_;
};

// One that could not be made ready.
class FailedSearch : public BenchSearch {
 public:
  explicit FailedSearch(Error error) : error_(std::move(error)) {}
  bool ready() const override { return false; }
  const std::string& run() const override { return run_; }
  const search::Tree& tree() const override { return tree_; }
  Seconds original() const override { return Seconds(0); }
  Seconds bound() const override { return Seconds(0); }
  std::optional<search::Stop> step() override { return search::Stop::kInterrupted; }
  Result<OptimizeOutcome> conclude() override { return error_; }

 private:
  Error error_;
  std::string run_ = "none";
  search::Tree tree_;
};

class Machine : public BenchWorker {
 public:
  void begin(const OptimizeOptions&) override {}
  // A run comes to its end, with the GPU to itself.
  Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress&) override {
    EXPECT_EQ(gpu.open, 0) << options.resume;
    EXPECT_TRUE(options.search.searched);
    EXPECT_FALSE(options.search.in_turns);
    log.push_back("end of " + options.resume);
    if (disk_full) return fail(Code::disk_full, "no space");
    const search::Node* best = trees.at(options.resume).best();
    OptimizeOutcome out;
    out.report.outcome = RunOutcome::kFaster;
    out.report.run = options.resume;
    out.report.headline.speedup = best ? Seconds(8) / best->measurement->time : 1;
    return out;
  }
  Result<OpponentsFound> compete(const OpponentsRequest&, Progress&) override {
    EXPECT_EQ(gpu.open, 0);
    ++competed;
    return OpponentsFound();
  }
  void end() override {}
  bool sound() const override { return !gpu.broken; }
  void renew() override {
    EXPECT_EQ(gpu.open, 0);
    gpu.broken = false;
  }
  Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions& options, Progress&) override {
    EXPECT_TRUE(options.search.in_turns);
    EXPECT_FALSE(options.keep);
    const std::string name = options.module.file.stem().string();
    resumed[name] = options.resume;
    if (times.find(name) == times.end())
      return std::unique_ptr<BenchSearch>(new FailedSearch(fail(Code::unsupported_operator, "fft")));
    if (++opened == no_room_at)
      return std::unique_ptr<BenchSearch>(new FailedSearch(fail(Code::too_large, "it takes 90 GB")));
    if (options.resume.empty()) trees.insert_or_assign(name, search::Tree(Seconds(8)));
    return std::unique_ptr<BenchSearch>(new TimesSearch(name, times[name], trees, log, gpu));
  }

  std::map<std::string, std::vector<double>> times;
  Trees trees;
  std::map<std::string, std::string> resumed;  // what was asked for
  std::vector<std::string> log;                // a problem for each of its trials
  int opened = 0, no_room_at = 0, competed = 0;
  bool disk_full = false;  // when a run comes to its end
  Gpu gpu;
};

class Told : public Progress {
 public:
  void stage_started(std::string_view, std::string_view) override {}
  void stage_finished(std::string_view, std::string_view, Seconds) override {}
  void trial_finished(const TrialNews&, const Standing&) override {}
  void standing_changed(const Standing&) override {}
  void message(std::string_view text) override { text_ += std::string(text) + "\n"; }
  bool has(const std::string& part) const { return text_.find(part) != std::string::npos; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class BenchSharedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // a improves for long, b is at its bound at once, c never gains.
    machine_.times = {{"a", {4, 3.8, 3.6, 3.4, 3.2, 3.0, 2.8, 2.6, 2.4, 2.2, 2.0, 1.8}},
                      {"b", std::vector<double>(12, 1.0)},
                      {"c", std::vector<double>(12, 9.0)}};
    for (const char* name : {"a", "b", "c"})
      ASSERT_TRUE(write_file(folder_.path() / "m" / (std::string(name) + ".py"), "x").ok());
  }

  BenchOptions options(const std::string& schedule, search::TotalBudget total) {
    BenchOptions out;
    for (const char* name : {"a", "b", "c"})
      out.problems.push_back({name, name, folder_.path() / "m" / (std::string(name) + ".py")});
    out.variants = {{"reference", "on"}};
    out.out = folder_.path() / "out";
    out.opponents = false;
    out.shared = SharedBudget{total, std::move(search::parse_schedule(schedule)).value(), "some", schedule};
    return out;
  }
  Result<Bench> bench(const BenchOptions& options) {
    return run_bench(options, machine_, told_, [](const BenchRow&) {});
  }
  static const BenchTurns& turns(const Bench& bench, size_t row) { return *bench.rows[row].variants[0].turns; }
  static const BenchVariant& row_of(const Bench& bench, const std::string& id) {
    return std::find_if(bench.rows.begin(), bench.rows.end(), [&](const BenchRow& row) { return row.id == id; })
        ->variants[0];
  }
  size_t trials(const std::string& name) const {
    return static_cast<size_t>(std::count(machine_.log.begin(), machine_.log.end(), name));
  }

  TempFolder folder_ = std::move(TempFolder::create("bench-shared-")).value();
  Machine machine_;
  Told told_;
};

TEST_F(BenchSharedTest, TrialsGoWhereTheyPromiseMost) {
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 18}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  ASSERT_EQ(made->rows.size(), 3u);
  EXPECT_EQ(std::vector<std::string>(machine_.log.begin(), machine_.log.begin() + 6),
            (std::vector<std::string>{"a", "b", "c", "a", "b", "c"}));
  EXPECT_EQ(turns(*made, 1).trials, 2);  // nothing is left at the bound
  EXPECT_GT(turns(*made, 0).trials, 6);
  EXPECT_EQ(turns(*made, 0).trials + turns(*made, 1).trials + turns(*made, 2).trials, 18);
  EXPECT_EQ(turns(*made, 0).spent.value, turns(*made, 0).trials);
  // With 6 trials each a has 3.0 s; what b would have had is not known.
  EXPECT_DOUBLE_EQ(*turns(*made, 0).fixed, 8 / 3.0);
  EXPECT_GT(turns(*made, 0).speedup, 8 / 3.0);
  EXPECT_FALSE(turns(*made, 1).fixed);
  EXPECT_EQ(turns(*made, 1).stop, "shared");
  EXPECT_TRUE(made->open.empty());
  EXPECT_TRUE(told_.has("1/3 a: one of its first trials")) << told_.text();
  EXPECT_TRUE(told_.has(" % per second")) << told_.text();
  const std::string page = *read_file(folder_.path() / "out/bench.md");
  EXPECT_NE(page.find("## One budget for all: some by log-gain(floor=2)"), std::string::npos) << page;
  EXPECT_NE(page.find("over the "), std::string::npos);
}

TEST_F(BenchSharedTest, TheFixedSplitGivesEachTheSame) {
  machine_.times["b"] = {1, 1, 1};
  const Result<Bench> made = bench(options("fixed", {.trials = 15}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a"), 5u);
  EXPECT_EQ(trials("b"), 3u);
  EXPECT_EQ(trials("c"), 5u);
  EXPECT_EQ(turns(*made, 1).stop, "exhausted");
  for (size_t row = 0; row < 3; ++row) EXPECT_DOUBLE_EQ(*turns(*made, row).fixed, turns(*made, row).speedup);
}

TEST_F(BenchSharedTest, WhatIsUnsupportedIsARowAndTakesNothing) {
  machine_.times.erase("b");
  const Result<Bench> made = bench(options("fixed", {.trials = 10}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made->rows[1].variants[0].outcome, RunOutcome::kUnsupported);
  EXPECT_FALSE(made->rows[1].variants[0].turns);
  EXPECT_EQ(trials("a"), 5u);
}

// A share of the budget is kept for it, of which it gets what it is worth.
TEST_F(BenchSharedTest, WhatFindsNoRoomHasItsTurnsAfterTheOthers) {
  machine_.no_room_at = 2;
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 12}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("b"), 2u);
  EXPECT_EQ(trials("a") + trials("c"), 8u);
  EXPECT_EQ(machine_.log.back(), "end of b");
  EXPECT_TRUE(
      told_.has("2/3 b: does not fit into memory next to the others and is searched after them: it takes 90 GB"))
      << told_.text();
  EXPECT_EQ(made->rows[1].variants[0].outcome, RunOutcome::kFaster);
}

// Opponents too.
TEST_F(BenchSharedTest, WhatComesToItsEndHasTheGpuToItself) {
  machine_.no_room_at = 3;
  BenchOptions all = options("log-gain(floor=2)", {.trials = 18});
  all.opponents = true;
  const Result<Bench> made = bench(all);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(machine_.competed, 3);
  std::vector<std::string> order;
  std::copy_if(machine_.log.begin(), machine_.log.end(), std::back_inserter(order),
               [](const auto& entry) { return entry.size() > 1; });
  EXPECT_EQ(order, (std::vector<std::string>{"closed a", "closed b", "end of a", "end of b", "closed c", "end of c"}));
}

// Its result is that of a search alone: no trial has failed for want of memory that others took.
TEST_F(BenchSharedTest, ATrialThatFindsNoRoomIsNoResult) {
  machine_.gpu.large = {"a"};
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 18}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_TRUE(
      told_.has("1/3 a: does not fit into memory next to the others and is searched after them: 1 slots need 13 GB"))
      << told_.text();
  EXPECT_EQ(machine_.resumed["a"], "");
  EXPECT_EQ(trials("a"), 1 + 6u);  // and its share of 6
  EXPECT_EQ(trials("b") + trials("c"), 11u);
  EXPECT_EQ(row_of(*made, "a").turns->trials, 6);
  EXPECT_DOUBLE_EQ(row_of(*made, "a").turns->speedup, 8 / 3.0);
  EXPECT_EQ(row_of(*made, "a").outcome, RunOutcome::kFaster);
  for (const search::Node& node : machine_.trees.at("a").nodes()) EXPECT_FALSE(node.failed());
  EXPECT_EQ(machine_.log.back(), "end of a");
}

// It is no candidate's fault either that a run was killed before that was seen.
TEST_F(BenchSharedTest, ARunWithSuchATrialDoesNotGoOn) {
  machine_.gpu.large = {"a"};
  const BenchOptions once = options("fixed", {.trials = 12});
  Bench open;
  ASSERT_TRUE(bench(once).ok());
  open.options = load_bench(once.out)->options;
  for (const char* name : {"a", "b"}) {
    open.open[name] = name;
    machine_.trees.insert_or_assign(name, search::Tree(Seconds(8)));
  }
  machine_.gpu.open = 1;  // another one
  TimesSearch("a", machine_.times["a"], machine_.trees, machine_.log, machine_.gpu).step();
  ASSERT_TRUE(machine_.trees.at("a").node(1).failed());
  machine_.gpu.open = 0;
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "again";
  ASSERT_TRUE(write_bench(open, again.out).ok());
  const Result<Bench> made = bench(again);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(row_of(*made, "a").turns->trials, 4);
  EXPECT_FALSE(machine_.trees.at("a").node(1).failed());
}

TEST_F(BenchSharedTest, WhatBreaksTheJudgeFailsAlone) {
  machine_.gpu.breaks = "b";
  const Result<Bench> made = bench(options("log-gain(floor=2)", {.trials = 18}));
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_TRUE(row_of(*made, "b").failed);
  EXPECT_EQ(row_of(*made, "b").reason, "cuda_error: an illegal address");
  EXPECT_EQ(machine_.resumed["a"], "a");
  EXPECT_EQ(trials("b"), 1u);
  EXPECT_EQ(trials("a") + trials("c"), 17u);
  EXPECT_EQ(static_cast<size_t>(row_of(*made, "a").turns->trials), trials("a"));
  EXPECT_TRUE(told_.has("continues with a new judge")) << told_.text();
}

// What it had before it was set apart is spent also for a bench that goes on.
TEST_F(BenchSharedTest, WhatWasSetApartStaysApart) {
  const BenchOptions once = options("fixed", {.trials = 12});
  Bench open;
  ASSERT_TRUE(bench(once).ok());
  open.options = load_bench(once.out)->options;
  open.apart["a"].trials = 3;
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "again";
  ASSERT_TRUE(write_bench(open, again.out).ok());
  machine_.log.clear();
  const Result<Bench> made = bench(again);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a"), 4u);
  EXPECT_EQ(trials("b") + trials("c"), 8u - 3u);
  EXPECT_EQ(machine_.log.back(), "end of a");
}

// What ended by itself says so still when the bench goes on after the budget was used up.
TEST_F(BenchSharedTest, WhyASearchEndedIsKept) {
  machine_.times["b"] = {1, 1, 1};
  machine_.disk_full = true;
  const BenchOptions once = options("log-gain(floor=4,stop=0)", {.trials = 20});
  EXPECT_EQ(bench(once).error().code, Code::disk_full);
  const Result<Bench> half = load_bench(once.out);
  ASSERT_TRUE(half.ok()) << half.error().text();
  EXPECT_EQ(half->open.size(), 3u);
  EXPECT_EQ(half->ended, (std::map<std::string, std::string>{{"b", "exhausted"}}));
  machine_.disk_full = false;
  machine_.log.clear();
  BenchOptions again = once;
  again.resume = true;
  const Result<Bench> made = bench(again);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(trials("a") + trials("b") + trials("c"), 0u);
  EXPECT_EQ(turns(*made, 1).stop, "exhausted");
  EXPECT_TRUE(turns(*made, 1).fixed);
  EXPECT_EQ(turns(*made, 0).stop, "shared");
  EXPECT_TRUE(made->ended.empty());
}

// Killed at any moment: the trees are what the store kept, the record says which runs go on. Each trial is once, in the
// same order.
TEST_F(BenchSharedTest, GoesOnWithEveryTrialOnce) {
  const BenchOptions once = options("log-gain(floor=2)", {.trials = 20});
  ASSERT_TRUE(bench(once).ok());
  std::vector<std::string> whole;
  const auto is_trial = [](const std::string& entry) { return entry.size() == 1; };
  std::copy_if(machine_.log.begin(), machine_.log.end(), std::back_inserter(whole), is_trial);
  const Trees all = machine_.trees;
  for (size_t killed = 0; killed <= whole.size(); ++killed) {
    machine_.trees.clear();
    Bench open;
    open.options = load_bench(once.out)->options;
    for (const char* name : {"a", "b", "c"}) {
      open.open[name] = name;
      machine_.trees.insert_or_assign(name, search::Tree(Seconds(8)));
    }
    machine_.log.clear();
    for (size_t i = 0; i < killed; ++i) {
      TimesSearch(whole[i], machine_.times[whole[i]], machine_.trees, machine_.log, machine_.gpu).step();
    }
    BenchOptions again = once;
    again.resume = true;
    again.out = folder_.path() / ("again-" + std::to_string(killed));
    ASSERT_TRUE(write_bench(open, again.out).ok());
    const Result<Bench> made = bench(again);
    ASSERT_TRUE(made.ok()) << made.error().text();
    EXPECT_EQ(machine_.resumed["a"], "a");
    std::vector<std::string> order;
    std::copy_if(machine_.log.begin(), machine_.log.end(), std::back_inserter(order), is_trial);
    EXPECT_EQ(order, whole) << killed;
    for (const auto& [name, tree] : all) EXPECT_EQ(machine_.trees.at(name).trials(), tree.trials()) << killed;
  }
}

// What a trial costs on all is known as it was: nobody is found cheap because a row is there already.
TEST_F(BenchSharedTest, WhoWasWorthNoTrialIsWorthNoneWhenItGoesOn) {
  const BenchOptions once = options("log-gain(floor=2,stop=0.05)", {.trials = 60});
  const Result<Bench> made = bench(once);
  ASSERT_TRUE(made.ok());
  EXPECT_LT(trials("a") + trials("b") + trials("c"), 36u);
  Bench half = *made;
  for (const char* name : {"b", "c"}) half.open[name] = name;
  half.rows.resize(1);
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "half";
  ASSERT_TRUE(write_bench(half, again.out).ok());
  machine_.log.clear();
  ASSERT_TRUE(bench(again).ok());
  EXPECT_EQ(trials("a") + trials("b") + trials("c"), 0u);
}

// One row is there already: its trials count, and its problem is not searched again.
TEST_F(BenchSharedTest, RowsThatAreKeptHaveHadTheirShare) {
  const BenchOptions once = options("log-gain(floor=2)", {.trials = 20});
  const Result<Bench> made = bench(once);
  ASSERT_TRUE(made.ok());
  Bench half = *made;
  for (const char* name : {"b", "c"}) half.open[name] = name;
  half.rows.resize(1);
  BenchOptions again = once;
  again.resume = true;
  again.out = folder_.path() / "half";
  ASSERT_TRUE(write_bench(half, again.out).ok());
  machine_.log.clear();
  const Result<Bench> whole = bench(again);
  ASSERT_TRUE(whole.ok()) << whole.error().text();
  EXPECT_EQ(whole->rows.size(), 3u);
  EXPECT_EQ(trials("a") + trials("b") + trials("c"), 0u);  // the budget was used up
  EXPECT_EQ(turns(*whole, 1).trials, turns(*made, 1).trials);
  again.shared->schedule_text = "fixed";
  EXPECT_NE(bench(again).error().message.find("schedule (log-gain(floor=2) then, fixed now)"), std::string::npos);
}

}  // namespace
}  // namespace solstice::flow
