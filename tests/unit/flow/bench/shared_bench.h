// A bench whose problems share one budget, on a machine that is told what each trial comes to.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/process/interrupt.h"
#include "flow/bench/bench.h"
#include "flow/bench/bench_files.h"
#include "record/verdict.h"

namespace solstice::flow {

using RunTrees = std::map<std::string, search::Tree>;  // of runs, as a store keeps them

// The state of the GPU.
struct SharedGpu {
  int open = 0;                 // searches
  std::set<std::string> large;  // their trials run only where nothing else is open
  std::string breaks;           // whose second trial breaks what all share
  bool broken = false;
};

// Trial n of a problem takes times[n]; after the last one there is none. Its run is named after the problem.
class TimesSearch : public BenchSearch {
 public:
  TimesSearch(std::string run, std::vector<double> times, RunTrees& trees, std::vector<std::string>& log,
              SharedGpu& gpu)
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
  RunTrees& trees_;
  std::vector<std::string>& log_;
  SharedGpu& gpu_;
};

// One that could not be made ready.
class FailedSearch : public BenchSearch {
 public:
  explicit FailedSearch(Result<OptimizeOutcome> outcome) : outcome_(std::move(outcome)) {}
  bool ready() const override { return false; }
  const std::string& run() const override { return run_; }
  const search::Tree& tree() const override { return tree_; }
  Seconds original() const override { return Seconds(0); }
  Seconds bound() const override { return Seconds(0); }
  std::optional<search::Stop> step() override { return search::Stop::kInterrupted; }
  Result<OptimizeOutcome> conclude() override { return std::move(outcome_); }

 private:
  Result<OptimizeOutcome> outcome_;
  std::string run_ = "none";
  search::Tree tree_;
};

class SharedMachine : public BenchWorker {
 public:
  void begin(const OptimizeOptions&) override {}
  // A run comes to its end, with the GPU to itself.
  Result<OptimizeOutcome> optimize(const OptimizeOptions& options, Progress&) override {
    EXPECT_EQ(gpu.open, 0) << options.resume;
    if (in_parts.contains(options.module.file.stem().string())) return searched_in_parts(options);
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
    if (in_parts.contains(name)) {
      OptimizeOutcome whole;
      whole.report.outcome = RunOutcome::kUnsupported;
      whole.report.reason = "dropout";
      whole.left_whole = true;
      return std::unique_ptr<BenchSearch>(new FailedSearch(std::move(whole)));
    }
    if (times.find(name) == times.end())
      return std::unique_ptr<BenchSearch>(new FailedSearch(fail(Code::unsupported_operator, "fft")));
    if (++opened == no_room_at)
      return std::unique_ptr<BenchSearch>(new FailedSearch(fail(Code::too_large, "it takes 90 GB")));
    if (options.resume.empty()) trees.insert_or_assign(name, search::Tree(Seconds(8)));
    return std::unique_ptr<BenchSearch>(new TimesSearch(name, times[name], trees, log, gpu));
  }

  Result<OptimizeOutcome> searched_in_parts(const OptimizeOptions& options) {
    EXPECT_FALSE(options.search.in_turns || options.search.searched);
    log.push_back(fmt::format("parts of {}: {} trials", options.module.file.stem().string(), options.search.trials));
    OptimizeOutcome out;
    out.report.outcome = RunOutcome::kFaster;
    out.report.headline.speedup = 2;
    out.report.timings["search"] = Seconds(3);
    PartRow stage;
    stage.ours = true;
    stage.trials = 3;
    out.report.parts = {stage, PartRow()};
    return out;
  }

  std::map<std::string, std::vector<double>> times;
  std::set<std::string> in_parts;  // problems that are not ours as a whole
  RunTrees trees;
  std::map<std::string, std::string> resumed;  // what was asked for
  std::vector<std::string> log;                // a problem for each of its trials
  int opened = 0, no_room_at = 0, competed = 0;
  bool disk_full = false;  // when a run comes to its end
  SharedGpu gpu;
};

class ToldProgress : public Progress {
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
  SharedMachine machine_;
  ToldProgress told_;
};

}  // namespace solstice::flow
