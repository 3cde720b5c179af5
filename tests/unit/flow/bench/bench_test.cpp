#include "flow/bench/bench.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace solstice::flow {
namespace {

// A machine on which every problem comes out as it is told.
class FakeWorker : public BenchWorker {
 public:
  using Make = std::function<Result<OptimizeOutcome>(const OptimizeOptions&)>;
  explicit FakeWorker(Make make) : make_(std::move(make)) {}
  void begin(const OptimizeOptions&) override { log += "("; }
  Result<OptimizeOutcome> optimize(const OptimizeOptions& o, Progress&) override {
    log += o.terms.numerics[0];
    return make_(o);
  }
  Result<std::unique_ptr<BenchSearch>> open(const OptimizeOptions&, Progress&) override {
    return fail(Code::internal, "no turns here");
  }
  Result<OpponentsFound> compete(const OpponentsRequest& request, Progress&) override {
    log += "c";
    asked = request;
    return found;
  }
  void end() override { log += ")"; }
  bool sound() const override { return true; }
  void renew() override {}

  std::string log;  // what was asked for: a letter each
  OpponentsRequest asked;
  Result<OpponentsFound> found = OpponentsFound();

 private:
  Make make_;
};

class BenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"level1/2_Second.py", "level1/10_Tenth.py", "level2/1_First.py", "level2/README.md"}) {
      ASSERT_TRUE(write_file(folder_.path() / "kb" / file, "x").ok());
    }
    ASSERT_TRUE(make_folder(folder_.path() / "kb/levels").ok());
  }

  std::vector<BenchProblem> problems() { return *list_problems(folder_.path() / "kb", {}, {}); }

  BenchOptions options() {
    BenchOptions o;
    o.problems = problems();
    o.out = folder_.path() / "out";
    o.variants = {{"reference", ""}};
    return o;
  }

  static Result<OptimizeOutcome> faster(const OptimizeOptions& o) {
    OptimizeOutcome outcome;
    outcome.out = o.out;
    outcome.report.outcome = RunOutcome::kFaster;
    outcome.report.headline.speedup = 4;
    return outcome;
  }

  TempFolder folder_ = std::move(TempFolder::create("bench-test-")).value();
  SilentProgress silent_;
};

TEST_F(BenchTest, ProblemsAreListedInOrderAndNarrowed) {
  ASSERT_EQ(problems().size(), 3u);
  EXPECT_EQ(problems()[0].id, "1/2");
  EXPECT_EQ(problems()[1].id, "1/10");
  EXPECT_EQ(problems()[1].name, "Tenth");
  EXPECT_EQ(list_problems(folder_.path() / "kb", {2}, {})->size(), 1u);
  EXPECT_EQ(list_problems(folder_.path() / "kb", {}, {"1/10"})->front().name, "Tenth");
  EXPECT_EQ(list_problems(folder_.path() / "kb", {}, {"9/9"}).error().code, Code::not_found);
  EXPECT_EQ(list_problems(folder_.path() / "no", {}, {}).error().code, Code::not_found);
  EXPECT_EQ(list_problems(folder_.path(), {}, {}).error().code, Code::not_found);
}

TEST_F(BenchTest, ModulesAreFilesWithInputs) {
  const auto folder = folder_.path() / "modules";
  ASSERT_TRUE(write_file(folder / "b.py", "\"\"\"A product: bf16.\"\"\"\ndef get_inputs(): ...\n").ok());
  ASSERT_TRUE(write_file(folder / "a.py", "\"\"\"Two\nlines.\"\"\"\ndef get_inputs(): ...\n").ok());
  ASSERT_TRUE(write_file(folder / "helper.py", "def linear(): ...\n").ok());
  const auto all = list_modules(folder, {});
  ASSERT_TRUE(all.ok() && all->size() == 2);
  EXPECT_EQ((*all)[0].name, "Two");
  EXPECT_EQ((*all)[1].id, "b");
  EXPECT_EQ((*all)[1].name, "A product: bf16.");
  EXPECT_EQ(list_modules(folder, {"b"})->size(), 1u);
  EXPECT_EQ(list_modules(folder, {"helper"}).error().code, Code::not_found);
  EXPECT_EQ(list_modules(folder / "none", {}).error().code, Code::not_found);
}

TEST_F(BenchTest, AnErrorIsARowAndAMissingGpuEndsIt) {
  int calls = 0;
  FakeWorker mixed([&](const OptimizeOptions& o) -> Result<OptimizeOutcome> {
    if (++calls == 1) return fail(Code::module_trace, "data-dependent control flow");
    if (calls == 2) return faster(o);
    return fail(Code::no_gpu, "gone");
  });
  std::vector<BenchRow> seen;
  const Result<Bench> bench = run_bench(options(), mixed, silent_, [&](const BenchRow& row) { seen.push_back(row); });
  ASSERT_FALSE(bench.ok());
  EXPECT_EQ(bench.error().code, Code::no_gpu);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen[0].failed());
  EXPECT_EQ(seen[1].variants[0].outcome, RunOutcome::kFaster);
}

TEST_F(BenchTest, ResumeRunsAgainWhatIsAnotherFile) {
  std::vector<std::string> ran;
  FakeWorker noted([&](const OptimizeOptions& o) {
    ran.push_back(o.module.name);
    return faster(o);
  });
  const auto ignore = [](const BenchRow&) {};
  ASSERT_TRUE(run_bench(options(), noted, silent_, ignore).ok());
  ASSERT_EQ(ran.size(), 3u);
  ASSERT_TRUE(write_file(folder_.path() / "kb/level1/10_Tenth.py", "y").ok());
  ran.clear();
  BenchOptions again = options();
  again.resume = true;
  const Result<Bench> bench = run_bench(again, noted, silent_, ignore);
  ASSERT_TRUE(bench.ok()) << bench.error().message;
  EXPECT_EQ(ran, std::vector<std::string>{"1/10 Tenth"});
  EXPECT_EQ(bench->rows.size(), 3u);
}

TEST_F(BenchTest, ResumeKeepsRowsAndTriesFailedOnesAgain) {
  int calls = 0;
  FakeWorker first([&](const OptimizeOptions& o) -> Result<OptimizeOutcome> {
    if (++calls == 2) return fail(Code::deadline, "slow");
    return faster(o);
  });
  const auto ignore = [](const BenchRow&) {};
  ASSERT_TRUE(run_bench(options(), first, silent_, ignore).ok());
  calls = 0;
  FakeWorker second([&](const OptimizeOptions& o) {
    ++calls;
    return faster(o);
  });
  BenchOptions again = options();
  again.resume = true;
  const Result<Bench> bench = run_bench(again, second, silent_, ignore);
  ASSERT_TRUE(bench.ok()) << bench.error().text();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(bench->rows.size(), 3u);
  EXPECT_EQ(bench->rows[1].id, "1/10");  // in order, though it was run last
  EXPECT_DOUBLE_EQ(figures_of(*bench, {{"reference", ""}}).supported.mean, 4.0);
  again.each.terms.frozen = true;
  again.each.place.machine = "h100";
  const Result<Bench> other = run_bench(again, second, silent_, ignore);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::bad_argument);
  const std::string why = other.error().sentence();
  EXPECT_NE(why.find("other options: machine (not given then, h100 now), weights (live then, frozen now);"),
            std::string::npos)
      << why;
}

TEST_F(BenchTest, WithoutResumeTheRowsOfAnEarlierBenchStay) {
  FakeWorker make(faster);
  const auto ignore = [](const BenchRow&) {};
  ASSERT_TRUE(run_bench(options(), make, silent_, ignore).ok());
  const std::string before = *read_file(options().out / "bench.json");
  const Result<Bench> again = run_bench(options(), make, silent_, ignore);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::bad_argument);
  EXPECT_NE(again.error().hint.find("continue with --resume, or use another --out"), std::string::npos)
      << again.error().message;
  EXPECT_EQ(*read_file(options().out / "bench.json"), before);
}

TEST_F(BenchTest, ADamagedRecordNamesItselfAndTheWayOut) {
  BenchOptions again = options();
  again.resume = true;
  FakeWorker never(faster);
  for (const char* text : {"{", "{}", "[1]"}) {
    ASSERT_TRUE(write_file(again.out / "bench.json", text).ok());
    const Result<Bench> bench = run_bench(again, never, silent_, [](const BenchRow&) {});
    ASSERT_FALSE(bench.ok()) << text;
    EXPECT_EQ(bench.error().message.rfind((again.out / "bench.json").string() + " cannot be resumed", 0), 0u)
        << bench.error().message;
    EXPECT_NE(bench.error().hint.find("move it away, or use another --out"), std::string::npos);
  }
}

TEST_F(BenchTest, ResumeOnAnotherMachineIsRefusedAndBuildsAreNamed) {
  std::string gpu = "GPU A", torch = "2.1";
  FakeWorker make([&](const OptimizeOptions& o) {
    Result<OptimizeOutcome> outcome = o.module.name.starts_with("2/1") && gpu == "GPU A" && torch == "2.1"
                                          ? Result<OptimizeOutcome>(fail(Code::deadline, "slow"))
                                          : faster(o);
    if (outcome.ok()) {
      outcome->report.device = gpu;
      outcome->report.versions["torch"] = torch;
    }
    return outcome;
  });
  const auto ignore = [](const BenchRow&) {};
  const Result<Bench> first = run_bench(options(), make, silent_, ignore);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->rows[0].made_with.at("device"), "GPU A");
  EXPECT_FALSE(first->rows[0].made_with.at("build").empty());
  BenchOptions again = options();
  again.resume = true;
  gpu = "GPU B";
  const Result<Bench> elsewhere = run_bench(again, make, silent_, ignore);
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_NE(
      elsewhere.error().sentence().find("rows from another place: device GPU A then, GPU B now; use another --out"),
      std::string::npos);
  gpu = "GPU A", torch = "2.2";
  EXPECT_NE(run_bench(again, make, silent_, ignore).error().message.find("torch 2.1"), std::string::npos);
}

TEST_F(BenchTest, AnUnreadableLevelIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const auto level = folder_.path() / "kb/level2";
  std::filesystem::permissions(level, std::filesystem::perms::none);
  const auto found = list_problems(folder_.path() / "kb", {}, {});
  std::filesystem::permissions(level, std::filesystem::perms::owner_all);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::io_error);
}

TEST_F(BenchTest, EveryPolicyIsRunOnWhatWasPreparedOnceAndOpponentsCompeteOnce) {
  FakeWorker worker([](const OptimizeOptions& o) -> Result<OptimizeOutcome> {
    if (o.module.name.starts_with("1/10")) return fail(Code::unsupported_operator, "fft");
    Result<OptimizeOutcome> outcome = faster(o);
    if (o.terms.numerics == "high" && o.module.name.starts_with("2/1"))
      outcome->report.outcome = RunOutcome::kNotFaster;
    EXPECT_TRUE(o.keep);
    EXPECT_FALSE(o.baselines);
    return outcome;
  });
  BenchOptions both = options();
  const std::string dropin = (both.out / "1_2/high").string();
  worker.found->rivals = {{"PyTorch eager", {2e-3, 2e-3}, 1e-7, Bytes(0), ""},
                          {dropin, {1e-3}, {}, Bytes(7), ""},
                          {"torch.compile", {}, {}, Bytes(0), "timed out"}};
  worker.found->flaws.constant = "zeros";
  both.variants = {{"reference", ""}, {"high", ""}};
  const Result<Bench> bench = run_bench(both, worker, silent_, [](const BenchRow&) {});
  ASSERT_TRUE(bench.ok()) << bench.error().text();
  EXPECT_EQ(worker.log, "(rhc)(rc)(rhc)");  // what is unsupported is so under any policy
  ASSERT_EQ(worker.asked.dropins.size(), 1u);
  EXPECT_EQ(worker.asked.dropins[0].path, (both.out / "2_1/reference/model_new.py").string());
  const BenchRow& row = bench->rows[0];
  ASSERT_EQ(row.opponents.size(), 2u);
  EXPECT_EQ(row.opponents[1].note, "timed out");
  EXPECT_EQ(row.variants[1].beside.time->median.value, 1e-3);
  EXPECT_TRUE(row.flaws.flawed());
  EXPECT_EQ(bench->rows[1].variants[1].numerics, "high");
  EXPECT_EQ(bench->rows[1].variants[1].outcome, RunOutcome::kUnsupported);
}

TEST_F(BenchTest, WhereNoRewriteAppliesTheSearchWithoutThemIsTheSame) {
  FakeWorker worker([](const OptimizeOptions& o) {
    Result<OptimizeOutcome> outcome = faster(o);
    if (o.terms.rewritten() && o.module.name.starts_with("2/1")) outcome->report.rewrites = "factor_sums";
    return outcome;
  });
  BenchOptions both = options();
  both.variants = {{"reference", "on"}, {"reference", "off"}};
  worker.found->rivals = {{(both.out / "1_2/reference").string(), {1e-3}, {}, Bytes(0), ""}};
  const Result<Bench> bench = run_bench(both, worker, silent_, [](const BenchRow&) {});
  ASSERT_TRUE(bench.ok()) << bench.error().text();
  EXPECT_EQ(worker.log, "(rc)(rc)(rrc)");
  EXPECT_EQ(worker.asked.dropins.size(), 2u);
  const BenchRow& row = bench->rows[0];
  EXPECT_EQ(row.variants[1].rewrites, "off");
  EXPECT_EQ(row.variants[1].speedup, 4);
  EXPECT_TRUE(row.variants[1].beside.time && row.variants[0].beside.time);
  EXPECT_TRUE(row.opponents.empty());
  EXPECT_EQ(bench->rows[2].variants[0].rewritten, "factor_sums");
}

TEST_F(BenchTest, ARowSaysHowMuchIsOurs) {
  FakeWorker worker([](const OptimizeOptions& o) {
    Result<OptimizeOutcome> outcome = faster(o);
    PartRow stage, call;
    stage.ours = true;
    stage.share = 0.75;
    outcome->report.parts = {stage, call};
    return outcome;
  });
  BenchOptions both = options();
  both.variants = {{"reference", "on"}, {"reference", "off"}};
  const Result<Bench> bench = run_bench(both, worker, silent_, [](const BenchRow&) {});
  ASSERT_TRUE(bench.ok()) << bench.error().text();
  EXPECT_EQ(worker.log, "(rrc)(rrc)(rrc)");  // rewrites of its stages are not known
  const BenchVariant& v = bench->rows[0].variants[0];
  ASSERT_TRUE(v.parts.has_value());
  EXPECT_EQ(v.parts->ours, 1);
  EXPECT_EQ(v.parts->all, 2);
  EXPECT_EQ(v.parts->share, 0.75);
  EXPECT_FALSE(v.complete());
  const std::string text = *read_file(both.out / "bench.md");
  EXPECT_NE(text.find("faster 4x, 1 of 2 parts ours, 75 % of the time"), std::string::npos) << text;
  const Result<Bench> again = read_bench(*parse_json(*read_file(both.out / "bench.json")));
  ASSERT_TRUE(again.ok() && again->rows[0].variants[0].parts);
  EXPECT_EQ(again->rows[0].variants[0].parts->share, 0.75);
}

TEST_F(BenchTest, WhereNoKernelMultipliesALooserPolicyAllowsNothingMore) {
  FakeWorker worker([](const OptimizeOptions& o) {
    Result<OptimizeOutcome> outcome = faster(o);
    outcome->report.kernels = {{"a", "map"}};
    if (o.module.name.starts_with("2/1")) outcome->report.kernels.push_back({"b", "gemm"});
    return outcome;
  });
  BenchOptions both = options();
  both.variants = {{"reference", "on"}, {"high", "on"}};
  const Result<Bench> bench = run_bench(both, worker, silent_, [](const BenchRow&) {});
  ASSERT_TRUE(bench.ok()) << bench.error().text();
  EXPECT_EQ(worker.log, "(rc)(rc)(rhc)");
  EXPECT_EQ(bench->rows[0].variants[1].numerics, "high");
  EXPECT_EQ(bench->rows[0].variants[1].folder, bench->rows[0].variants[0].folder);
  both.out = folder_.path() / "other";
  both.variants = {{"high", "on"}, {"reference", "on"}};
  worker.log.clear();
  ASSERT_TRUE(run_bench(both, worker, silent_, [](const BenchRow&) {}).ok());
  EXPECT_EQ(worker.log, "(hrc)(hrc)(hrc)");
}

TEST_F(BenchTest, OpponentsThatCannotBeMeasuredAreANote) {
  FakeWorker worker(faster);
  worker.found = fail(Code::deadline, "too slow");
  const Result<Bench> bench = run_bench(options(), worker, silent_, [](const BenchRow&) {});
  ASSERT_TRUE(bench.ok());
  EXPECT_EQ(bench->rows[0].opponents_note, "the opponents were not measured: too slow");
  EXPECT_FALSE(bench->rows[0].flaws.measured);
  BenchOptions none = options();
  none.out = folder_.path() / "none";
  none.opponents = false;
  worker.log.clear();
  ASSERT_TRUE(run_bench(none, worker, silent_, [](const BenchRow&) {}).ok());
  EXPECT_EQ(worker.log, "(r)(r)(r)");
}

}  // namespace
}  // namespace solstice::flow
