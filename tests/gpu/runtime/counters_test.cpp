// Counters of known kernels by the real ncu: bytes that have to move, shares that sum up, a judge that works on. With
// SOLSTICE_KEEP_NCU, a folder, what ncu printed is kept there, as tests/support/ncu has it.
#include "diagnose/counters/counters.h"

#include <cstdlib>
#include <numeric>

#include "diagnose/counters/counter_table.h"
#include "diagnose/counters/ncu.h"
#include "diagnose/tool.h"
#include "fixture.h"

namespace solstice::run {
namespace {

constexpr int64_t kSide = 1024;

Result<DeviceTensor> on_device(const rt::Driver& driver, const void* values, DType dtype,
                               std::vector<DeviceBuffer>& owner) {
  const int64_t bytes = kSide * kSide * (dtype == DType::kF64 ? 8 : 4);
  SOLSTICE_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(driver, bytes));
  SOLSTICE_CHECK(driver.check(driver.cuMemcpyHtoD(buffer.address(), values, static_cast<size_t>(bytes)), "upload"));
  const DeviceTensor out{buffer.address(), dtype, {kSide, kSide}, {kSide, 1}, bytes};
  owner.push_back(std::move(buffer));
  return out;
}

// x times twice the identity: every element is known, and the work is that of any product.
Result<JudgeCase> product_case(const rt::Driver& driver, std::vector<DeviceBuffer>& owner) {
  constexpr size_t kCount = kSide * kSide;
  std::vector<float> x(kCount), w(kCount), eager(kCount);
  std::vector<double> exact(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    x[i] = static_cast<float>(i % 977) - 400;
    w[i] = i % (kSide + 1) == 0 ? 2 : 0;
    eager[i] = 2 * x[i];
    exact[i] = eager[i];
  }
  JudgeCase out;
  out.name = "twice the identity";
  SOLSTICE_TRY(out.given["x"], on_device(driver, x.data(), DType::kF32, owner));
  SOLSTICE_TRY(out.given["w"], on_device(driver, w.data(), DType::kF32, owner));
  SOLSTICE_TRY(out.expected["y"].oracle, on_device(driver, exact.data(), DType::kF64, owner));
  SOLSTICE_TRY(const DeviceTensor own, on_device(driver, eager.data(), DType::kF32, owner));
  out.expected["y"].eager = own;
  return out;
}

class CountersTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    if (IsSkipped()) return;
    if (const auto ncu = diagnose::find_ncu(); !ncu.ok()) GTEST_SKIP() << ncu.error().text();
  }

  static Plan product_plan() {
    Plan out = plan_of("product");
    for (PlanBuffer& tensor : out.buffers) {
      tensor.shape = {kSide, kSide};
      tensor.strides = {kSide, 1};
      tensor.bytes = kSide * kSide * 4;
    }
    out.steps[0].grid = {kSide / 32, kSide / 32, 1};
    out.steps[0].block = {32, 32, 1};
    out.steps[0].arguments.back().integer = kSide;
    return out;
  }

  // Of the plan's first step. Skips aloud where this machine does not let us.
  CounterFacts counters_of_first(const Plan& plan, const JudgeCase& test) {
    diagnose::CounterRequest request;
    request.plan = save(plan);
    request.steps = {plan.steps[0].name};
    if (const char* folder = std::getenv("SOLSTICE_KEEP_NCU")) request.keep = folder;
    bool passed = false;
    const diagnose::ProfiledWork judged = diagnose::with_judge(*judge_, request.plan, test);
    const auto run = diagnose::counters_of(request, [&](const Profiler& profiler, const ProfileLimits& limits) {
      Result<ProfiledRun> done = judged(profiler, limits);
      passed = done.ok() && done->verdict.outcome == Outcome::kPassed;
      if (done.ok()) std::printf("sandbox: %s\n", done->sandbox.dump().c_str());
      return done;
    });
    EXPECT_TRUE(run.ok()) << run.error().text();
    if (!run.ok()) return {};
    std::printf("ncu %s, %.1f s: %s\n", run->version.c_str(), run->took.value, run->source.why.c_str());
    for (const std::string& note : run->notes) std::printf("  missing: %s\n", note.c_str());
    EXPECT_TRUE(run->source.there) << run->source.why << "\n" << run->source.opens;
    EXPECT_TRUE(passed) << "replayed by ncu, the launch has to compute what it computes alone";
    EXPECT_LE(run->took.value, 10);
    const auto found = run->steps.find(plan.steps[0].name);
    return found == run->steps.end() ? CounterFacts() : found->second;
  }

  static void print(const CounterFacts& facts) {
    for (const diagnose::Counter& counter : diagnose::counter_table()) {
      const auto value = diagnose::counter_value(facts, counter.metric);
      if (value)
        std::printf("  %-40s %16.6g %s\n", std::string(counter.name).c_str(), *value,
                    std::string(counter.unit).c_str());
    }
    for (const HotSpot& spot : facts.hot)
      std::printf("  %#8llx %s\n", static_cast<long long>(spot.address), spot.instruction.c_str());
  }

  static void expect_whole(const CounterFacts& facts) {
    print(facts);
    EXPECT_GE(facts.metrics.size(), 40u);
    const double sum = std::accumulate(facts.stalls.begin(), facts.stalls.end(), 0.0,
                                       [](double all, const auto& stall) { return all + stall.second; });
    EXPECT_NEAR(sum, 1, 0.02);
    double by_hardware = 0;
    for (const auto& [metric, value] : facts.metrics) {
      if (metric.find("smsp__warp_issue_stalled_") == 0) by_hardware += value;
    }
    EXPECT_NEAR(by_hardware, 1, 0.02);
    EXPECT_FALSE(facts.hot.empty());
    for (const HotSpot& spot : facts.hot) EXPECT_FALSE(spot.instruction.empty());
  }

  static double metric(const CounterFacts& facts, const char* name) {
    return diagnose::counter_value(facts, name).value_or(-1);
  }
};

TEST_F(CountersTest, OfACopyAreTheBytesItMoves) {
  const CounterFacts facts = counters_of_first(plan_of("honest"), cases_[0]);
  expect_whole(facts);
  // Two tensors of float are read, with cold caches; what is written stays in L2.
  const double bytes = 2.0 * kElements * 4;
  EXPECT_NEAR(metric(facts, "dram__bytes_read.sum"), bytes, 0.1 * bytes);
  EXPECT_NEAR(metric(facts, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"), 4, 0.1);
  EXPECT_NEAR(metric(facts, "smsp__thread_inst_executed_per_inst_executed.ratio"), 32, 0.5);
  EXPECT_EQ(metric(facts, "sm__inst_executed_pipe_tensor_op_gmma.sum"), 0);
  // It works on: the same judge, another process.
  EXPECT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
}

TEST_F(CountersTest, OfAProductAreItsReadsAndItsArithmetic) {
  std::vector<DeviceBuffer> owner;
  const auto test = product_case(judge_->driver(), owner);
  ASSERT_TRUE(test.ok()) << test.error().text();
  const CounterFacts facts = counters_of_first(product_plan(), *test);
  expect_whole(facts);
  const double bytes = 2.0 * kSide * kSide * 4;
  EXPECT_NEAR(metric(facts, "dram__bytes_read.sum"), bytes, 0.1 * bytes);
  // Warp instructions: a fused multiply-add for each 32 of the products.
  EXPECT_GE(metric(facts, "sm__inst_executed_pipe_fma.sum"), 1.0 * kSide * kSide * kSide / 32);
  EXPECT_GT(metric(facts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 0);
  EXPECT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
}

// The second of two launches of one kernel, on tensors that differ from the first's.
TEST_F(CountersTest, AreOfTheLaunchThatWasAskedFor) {
  Plan plan = plan_of("honest");
  Step small = plan.steps[0];
  small.name = "small";
  small.grid = {8, 1, 1};
  plan.steps.insert(plan.steps.begin(), small);
  const CounterFacts facts = counters_of_first(plan, cases_[0]);
  EXPECT_LT(metric(facts, "dram__bytes_read.sum"), 1e6);
  EXPECT_GT(metric(facts, "dram__bytes_read.sum"), 8.0 * 1024 * 8 * 0.9);
}

// One start of ncu for all of them; each answer is its own launch's.
TEST_F(CountersTest, OfSeveralLaunchesAreReadByOneProcess) {
  Plan plan = plan_of("honest");
  for (const int64_t blocks : {8, 64}) {
    Step small = plan.steps.back();
    small.name = "of " + std::to_string(blocks);
    small.grid = {blocks, 1, 1};
    plan.steps.insert(plan.steps.begin(), small);
  }
  diagnose::CounterRequest request;
  request.plan = save(plan);
  for (const Step& step : plan.steps) request.steps.push_back(step.name);
  request.metrics = diagnose::counters_to_ask(diagnose::all_tools());
  const auto run = diagnose::counters_of(request, diagnose::with_judge(*judge_, request.plan, cases_[0]));
  ASSERT_TRUE(run.ok()) << run.error().text();
  EXPECT_EQ(run->processes, 1u) << run->source.why;
  ASSERT_EQ(run->steps.size(), 3u) << run->source.why;
  for (const Step& step : plan.steps) {
    const CounterFacts& facts = run->steps.at(step.name);
    const double bytes = static_cast<double>(step.grid[0]) * 1024 * 8;
    EXPECT_NEAR(metric(facts, "dram__bytes_read.sum"), bytes, 0.2 * bytes) << step.name;
    EXPECT_FALSE(facts.stalls.empty()) << step.name;
    std::printf("%s: %lld passes\n", step.name.c_str(), static_cast<long long>(facts.passes));
  }
  std::printf("three launches: %.1f s\n", run->took.value);
}

// A kernel that does not end costs its own answer.
TEST_F(CountersTest, OfAKernelThatHangsAreGivenUp) {
  diagnose::CounterRequest request;
  request.plan = save(plan_of("never_ends"));
  request.steps = {"never_ends"};
  request.limits = {Seconds(60), Seconds(5), Seconds(10)};
  const auto run = diagnose::counters_of(request, diagnose::with_judge(*judge_, request.plan, cases_[0]));
  ASSERT_TRUE(run.ok()) << run.error().text();
  EXPECT_FALSE(run->source.there);
  std::printf("hangs: %s (%s), %.1f s\n", run->source.why.c_str(), run->source.opens.c_str(), run->took.value);
  EXPECT_LT(run->took.value, 60);
  EXPECT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
}

}  // namespace
}  // namespace solstice::run
