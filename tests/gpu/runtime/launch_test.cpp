// What a plan can say about a launch, timing, and the cost of the runtime itself.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/clock.h"
#include "fixture.h"
#include "rt/executor.h"
#include "run/abba.h"
#include "run/timing_stats.h"

namespace solstice::run {
namespace {

using LaunchTest = RuntimeTest;

Plan two_launches(const Plan& plan, const Step& first, const Step& second, const PlanBuffer& workspace) {
  Plan out = plan;
  out.buffers.push_back(workspace);
  out.steps = {first, second};
  return out;
}

TEST_F(LaunchTest, WorkspacePdlAndStreams) {
  const Step first = step("doubled", {pointer("x"), pointer("t"), count()});
  Step second = step("plus", {pointer("t"), pointer("w"), pointer("y"), count()});
  const PlanBuffer t = buffer("t", BufferKind::kWorkspace);
  second.pdl = true;
  Plan plan = two_launches(plan_of("honest"), first, second, t);
  EXPECT_EQ(verify(plan).outcome, Outcome::kPassed);
  plan.steps[1].pdl = false;
  plan.streams = 2;
  plan.steps[0].stream = 1;
  plan.steps[1].after = {"doubled"};
  Verdict verdict = verify(plan);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << verdict.message;
}

TEST_F(LaunchTest, PreparedParameters) {
  // w is doubled once into a workspace that is kept: y = 2 w + x.
  const Step first = step("doubled", {pointer("w"), pointer("t"), count()});
  const Step second = step("plus", {pointer("t"), pointer("x"), pointer("y"), count()});
  PlanBuffer t = buffer("t", BufferKind::kWorkspace);
  t.persistent = true;
  Plan plan = two_launches(plan_of("honest"), first, second, t);
  plan.steps[0].phase = Phase::kPrepare;
  std::vector<JudgeCase> swapped = cases_;
  for (JudgeCase& test : swapped) std::swap(test.given["x"], test.given["w"]);
  const auto verdict = judge_->verify(save(plan), {swapped[0]});
  ASSERT_TRUE(verdict.ok()) << verdict.error().text();
  EXPECT_EQ(verdict->outcome, Outcome::kPassed) << verdict->message;
}

TEST_F(LaunchTest, ClustersCooperationAndTma) {
  Plan plan = plan_of("by_cluster");
  plan.steps[0].cluster = {4, 1, 1};
  plan.steps[0].shared_bytes = 100000;
  Verdict verdict = verify(plan);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << verdict.message;
  plan.steps[0].cluster = {16, 1, 1};  // not portable
  verdict = verify(plan);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << verdict.message;

  plan = plan_of("by_tma");
  Argument map;
  map.kind = ArgumentKind::kTensorMap;
  map.map.buffer = "x";
  map.map.extents = {32, kElements / 32};
  map.map.strides = {128};
  map.map.box = {32, 32};
  plan.steps[0].arguments[0] = map;
  verdict = verify(plan);
  // The last, partial row of 32 lies outside the map and reads as zero; the tail is then wrong, and only the tail.
  EXPECT_EQ(verdict.outcome, kElements % 32 == 0 ? Outcome::kPassed : Outcome::kWrongResult) << verdict.message;
  ASSERT_FALSE(verdict.cases.empty());
  EXPECT_GE(verdict.cases[0].outputs[0].worst, kElements / 32 * 32);

  plan = plan_of("honest");
  plan.steps[0].cooperative = true;  // 1024 blocks of 1024 threads are not resident together
  EXPECT_EQ(verify(plan).outcome, Outcome::kCrashed);
}

TEST_F(LaunchTest, TimesByEventsAndByCupti) {
  ASSERT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
  auto events = judge_->time_block(cases_, 40);
  ASSERT_TRUE(events.ok()) << events.error().text();
  ASSERT_EQ(events->verdict.outcome, Outcome::kPassed) << events->verdict.message;
  ASSERT_EQ(events->seconds.size(), 40u);
  const double by_events = median(events->seconds);
  std::printf("honest, 12.6 MB moved: events %.2f us, launch call %.2f us\n", by_events * 1e6,
              events->launch.value * 1e6);
  EXPECT_GT(by_events, 2e-6);
  EXPECT_LT(by_events, 50e-6);
  const auto hello = judge_->runner();
  ASSERT_TRUE(hello.ok());
  std::printf("runner: %s, driver %d, CUPTI: %s\nsandbox: %s\n", hello->gpu.c_str(), hello->driver,
              hello->cupti_note.c_str(), hello->sandbox.dump().c_str());
  if (!hello->cupti) GTEST_SKIP() << "no CUPTI: " << hello->cupti_note;
  auto spans = judge_->time_block(cases_, 40, Tracer::kCupti);
  ASSERT_TRUE(spans.ok()) << spans.error().text();
  ASSERT_EQ(spans->verdict.outcome, Outcome::kPassed) << spans->verdict.message;
  const double by_cupti = median(spans->seconds);
  std::printf("CUPTI span %.2f us of %s\n", by_cupti * 1e6, spans->activities.at(0).c_str());
  EXPECT_EQ(spans->activities, std::vector<std::string>{"honest"});
  EXPECT_NEAR(by_cupti, by_events, 4e-6);
}

// What a trial pays for its time by kernel.
TEST_F(LaunchTest, TracesEveryActivity) {
  const auto hello = judge_->runner();
  ASSERT_TRUE(hello.ok());
  if (!hello->cupti) GTEST_SKIP() << "no CUPTI: " << hello->cupti_note;
  Plan plan = plan_of("honest");
  plan.steps.push_back(plan.steps[0]);
  plan.steps[1].name = "again";
  ASSERT_EQ(verify(plan).outcome, Outcome::kPassed);
  for (const Tracer tracer : {Tracer::kEvents, Tracer::kCupti, Tracer::kCupti}) {
    const Seconds began = monotonic_now();
    const auto block = judge_->time_block(cases_, 2, tracer);
    const Seconds took = monotonic_now() - began;
    ASSERT_TRUE(block.ok()) << block.error().text();
    ASSERT_EQ(block->verdict.outcome, Outcome::kPassed) << block->verdict.message;
    std::printf("two repetitions by %s: %.0f us of host time\n", tracer == Tracer::kCupti ? "CUPTI" : "events",
                took.value * 1e6);
    if (tracer == Tracer::kEvents) continue;
    EXPECT_EQ(block->activities, (std::vector<std::string>{"honest", "honest"}));
    ASSERT_EQ(block->activity_seconds.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const std::vector<double>& seconds = block->activity_seconds[i];
      ASSERT_EQ(seconds.size(), 2u);
      std::printf("activities %.2f us, %.2f us of a span of %.2f us\n", seconds[0] * 1e6, seconds[1] * 1e6,
                  block->seconds[i] * 1e6);
      EXPECT_GT(seconds[0], 1e-6);
      EXPECT_GT(seconds[1], 1e-6);
      EXPECT_LE(seconds[0] + seconds[1], block->seconds[i] + 1e-9);
    }
  }
}

TEST_F(LaunchTest, AbbaOfACandidateWithItselfIsNoWin) {
  ASSERT_EQ(verify(plan_of("honest")).outcome, Outcome::kPassed);
  const TimeBlock block = [&](int n) -> Result<std::vector<double>> {
    SOLSTICE_TRY(const TimedBlock timed, judge_->time_block(cases_, n));
    return timed.seconds;
  };
  const auto timed =
      time_interleaved({block}, block, [&] { return judge_->clocks(); }, {.repetitions = 20, .budget = Seconds(4)});
  ASSERT_TRUE(timed.ok()) << timed.error().text();
  const Result<Timing>& timing = timed->front();
  ASSERT_TRUE(timing.ok()) << timing.error().text();
  std::printf("self ABBA: %.4f [%.4f, %.4f] in %zu rounds, %.2f s, %d MHz\n", timing->speedup, timing->interval95[0],
              timing->interval95[1], timing->rounds.size(), timing->wall.value,
              static_cast<int>(timing->rounds[0].candidate_mhz));
  EXPECT_FALSE(timing->win);
  EXPECT_NEAR(timing->speedup, 1, 0.03);
}

class InProcess {
 public:
  InProcess(Judge& judge, const std::filesystem::path& plan) : driver_(judge.driver()) {
    auto loaded = rt::load_plan(plan);
    executor_ = rt::Executor::create(driver_, std::move(loaded).value()).value();
    for (size_t i = 0; i < executor_->tensor_count(); ++i) {
      memory_.push_back(DeviceBuffer::allocate(driver_, executor_->tensor(i).bytes).value());
      tensors_.push_back(reinterpret_cast<void*>(memory_.back().address()));
    }
    driver_.cuStreamCreate(&stream_, cu::kStreamNonBlocking);
  }
  Status prepare() { return executor_->prepare(tensors_, nullptr, stream_); }
  Status launch() { return executor_->launch(tensors_, nullptr, stream_); }
  void wait() { driver_.cuStreamSynchronize(stream_); }
  cu::Stream stream() const { return stream_; }
  std::vector<void*>& tensors() { return tensors_; }

  // Median host seconds of a call, the queue never full.
  double host_cost(const std::function<void()>& call) {
    std::vector<double> costs;
    for (int i = 0; i < 200; ++i) {
      wait();
      const Seconds begin = monotonic_now();
      for (int j = 0; j < 50; ++j) call();
      costs.push_back((monotonic_now() - begin).value / 50);
    }
    wait();
    return median(costs);
  }

 private:
  const rt::Driver& driver_;
  std::unique_ptr<rt::Executor> executor_;
  std::vector<DeviceBuffer> memory_;
  std::vector<void*> tensors_;
  cu::Stream stream_ = nullptr;
};

TEST_F(LaunchTest, CostsLittleMoreThanTheDriver) {
  Plan plan = plan_of("leaves_everything");
  plan.steps[0].grid = {1, 1, 1};
  InProcess here(*judge_, save(plan));
  ASSERT_TRUE(here.prepare().ok());
  const double ours = here.host_cost([&] { ASSERT_TRUE(here.launch().ok()); });
  void* other = here.tensors()[0];
  void* mine = here.tensors()[2];
  const double moving = here.host_cost([&] {
    std::swap(here.tensors()[2], mine);
    ASSERT_TRUE(here.launch().ok());
  });
  EXPECT_NE(other, nullptr);
  // The bare driver call, for comparison.
  const rt::Driver& driver = judge_->driver();
  cu::Library library = nullptr;
  cu::Kernel kernel = nullptr;
  cu::Function function = nullptr;
  ASSERT_EQ(driver.cuLibraryLoadData(&library, cubin_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), 0);
  ASSERT_EQ(driver.cuLibraryGetKernel(&kernel, library, "leaves_everything"), 0);
  ASSERT_EQ(driver.cuKernelGetFunction(&function, kernel), 0);
  void* a = here.tensors()[0];
  int n = 1;
  void* parameters[] = {&a, &a, &a, &n};
  const cu::LaunchConfig config{{1, 1, 1}, {1024, 1, 1}, 0, here.stream(), nullptr, 0};
  const double bare = here.host_cost([&] { driver.cuLaunchKernelEx(&config, function, parameters, nullptr); });
  std::printf("host cost of a launch: executor %.2f us, with a moved tensor %.2f us, bare driver %.2f us\n", ours * 1e6,
              moving * 1e6, bare * 1e6);
  EXPECT_LT(ours, bare + 1e-6);
  driver.cuLibraryUnload(library);
}

// What a clamp leaves of a row is measured against the other rows, a row of small values against itself.
TEST_F(LaunchTest, MostlyZeroRowsTakeTheScaleOfAll) {
  constexpr int64_t kRows = 4, kColumns = 128;
  std::vector<double> oracle(kRows * kColumns, 1.0);
  std::fill(oracle.begin(), oracle.begin() + kColumns, 0.0);  // clamped, but for one
  oracle[5] = 1e-4;
  std::fill(oracle.begin() + kColumns, oracle.begin() + 2 * kColumns, 1e-4);  // small
  std::vector<float> candidate(oracle.begin(), oracle.end());
  const rt::Driver& driver = judge_->driver();
  auto x = DeviceBuffer::allocate(driver, kRows * kColumns * 4),
       o = DeviceBuffer::allocate(driver, kRows * kColumns * 8);
  ASSERT_TRUE(x.ok() && o.ok());
  const std::vector<int64_t> shape = {kRows, kColumns}, strides = {kColumns, 1};
  const auto elementwise = [&](size_t wrong) {
    std::vector<float> values = candidate;
    values[wrong] += 1e-6f;
    EXPECT_EQ(driver.cuMemcpyHtoD(x->address(), values.data(), values.size() * 4), cu::kSuccess);
    EXPECT_EQ(driver.cuMemcpyHtoD(o->address(), oracle.data(), oracle.size() * 8), cu::kSuccess);
    const auto found =
        judge_->kernels().compare({x->address(), DType::kF32, shape, strides, x->bytes()},
                                  {o->address(), DType::kF64, shape, strides, o->bytes()}, std::nullopt, 0xff);
    EXPECT_TRUE(found.ok());
    return found.ok() ? found->elementwise : 0;
  };
  EXPECT_NEAR(elementwise(5), 1e-6 / std::sqrt(0.5), 1e-7);  // two of four rows are 1
  EXPECT_NEAR(elementwise(kColumns), 1e-2, 1e-4);
}

// What the inputs do not determine may lie within its room, and counts as ever beyond it; PyTorch's errors there count
// for nothing.
TEST_F(LaunchTest, RoomExcusesWhatLiesWithinIt) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<double> oracle = {1, 1, 1, 1};
  const std::vector<float> reference = {1.5f, 1, 1, 1}, room = {0.5f, 0.5f, 0.5f, -1};
  const rt::Driver& driver = judge_->driver();
  auto x = DeviceBuffer::allocate(driver, 16), o = DeviceBuffer::allocate(driver, 32),
       p = DeviceBuffer::allocate(driver, 16), r = DeviceBuffer::allocate(driver, 16);
  ASSERT_TRUE(x.ok() && o.ok() && p.ok() && r.ok());
  ASSERT_EQ(driver.cuMemcpyHtoD(o->address(), oracle.data(), 32), cu::kSuccess);
  ASSERT_EQ(driver.cuMemcpyHtoD(p->address(), reference.data(), 16), cu::kSuccess);
  ASSERT_EQ(driver.cuMemcpyHtoD(r->address(), room.data(), 16), cu::kSuccess);
  const auto compared = [&](const std::vector<float>& candidate) {
    EXPECT_EQ(driver.cuMemcpyHtoD(x->address(), candidate.data(), 16), cu::kSuccess);
    const auto view = [](const DeviceBuffer& buffer, DType dtype) {
      return DeviceTensor{buffer.address(), dtype, {4}, {1}, buffer.bytes()};
    };
    const auto found = judge_->kernels().compare(view(*x, DType::kF32), view(*o, DType::kF64), view(*p, DType::kF32),
                                                 0xff, false, view(*r, DType::kF32));
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : Comparison{};
  };
  const Comparison within = compared({1.5f, 0.75f, 1, 1});
  EXPECT_EQ(within.excused, 3);
  EXPECT_EQ(within.normwise, 0);
  EXPECT_EQ(within.elementwise, 0);
  EXPECT_EQ(within.reference_normwise, 0);
  EXPECT_NEAR(compared({1, 2, 1, 1}).normwise, 0.5, 1e-6);          // beyond it
  EXPECT_NEAR(compared({1, 1, 1, 1.25f}).elementwise, 0.25, 1e-6);  // determined
  EXPECT_EQ(compared({1, nan, 1, 1}).class_mismatches, 1);
}

// Merged, NaN and infinity stand for each other, and never for a number.
TEST_F(LaunchTest, ClassesMergeOnDemand) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> candidate = {inf, nan, inf, 1, nan, 2};
  const std::vector<double> oracle = {nan, -inf, inf, nan, 1, 2};
  const rt::Driver& driver = judge_->driver();
  auto x = DeviceBuffer::allocate(driver, 24), o = DeviceBuffer::allocate(driver, 48);
  ASSERT_TRUE(x.ok() && o.ok());
  ASSERT_EQ(driver.cuMemcpyHtoD(x->address(), candidate.data(), 24), cu::kSuccess);
  ASSERT_EQ(driver.cuMemcpyHtoD(o->address(), oracle.data(), 48), cu::kSuccess);
  for (const bool merged : {false, true}) {
    const auto found =
        judge_->kernels().compare({x->address(), DType::kF32, {6}, {1}, x->bytes()},
                                  {o->address(), DType::kF64, {6}, {1}, o->bytes()}, std::nullopt, 0xff, merged);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->class_mismatches, merged ? 2 : 4);
    EXPECT_EQ(found->first_mismatch, merged ? 3 : 0);
  }
}

// A number counts in place of 0 * NaN where it is known, and is held to it; NaN is right there too.
TEST_F(LaunchTest, NumbersStandForMaskedNanWhereTheyAreKnown) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> candidate = {nan, 1, 2, inf, 3, 4}, eager = {nan, nan, nan, nan, 3, 4};
  const std::vector<double> oracle = {nan, nan, nan, nan, 3, nan}, known = {7, 1, nan, 8, nan, 4.5};
  const rt::Driver& driver = judge_->driver();
  auto x = DeviceBuffer::allocate(driver, 24), p = DeviceBuffer::allocate(driver, 24),
       o = DeviceBuffer::allocate(driver, 48), f = DeviceBuffer::allocate(driver, 48);
  ASSERT_TRUE(x.ok() && p.ok() && o.ok() && f.ok());
  ASSERT_EQ(driver.cuMemcpyHtoD(x->address(), candidate.data(), 24), cu::kSuccess);
  ASSERT_EQ(driver.cuMemcpyHtoD(p->address(), eager.data(), 24), cu::kSuccess);
  ASSERT_EQ(driver.cuMemcpyHtoD(o->address(), oracle.data(), 48), cu::kSuccess);
  ASSERT_EQ(driver.cuMemcpyHtoD(f->address(), known.data(), 48), cu::kSuccess);
  const auto compare = [&](const std::optional<DeviceTensor>& finite) {
    return judge_->kernels().compare(
        {x->address(), DType::kF32, {6}, {1}, x->bytes()}, {o->address(), DType::kF64, {6}, {1}, o->bytes()},
        DeviceTensor{p->address(), DType::kF32, {6}, {1}, p->bytes()}, 0xff, false, std::nullopt, finite);
  };
  const auto strict = compare(std::nullopt);
  ASSERT_TRUE(strict.ok());
  EXPECT_EQ(strict->class_mismatches, 3);  // the last is where PyTorch has a number
  EXPECT_EQ(strict->left_out, 0);
  const auto found = compare(DeviceTensor{f->address(), DType::kF64, {6}, {1}, f->bytes()});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->class_mismatches, 2);
  EXPECT_EQ(found->first_mismatch, 2);
  EXPECT_EQ(found->left_out, 1);
  EXPECT_EQ(found->worst, 5);
  EXPECT_EQ(found->expected, 4.5);
}

TEST_F(LaunchTest, ComparingIsQuick) {
  constexpr int64_t kMany = int64_t{1} << 26;
  const rt::Driver& driver = judge_->driver();
  auto x = DeviceBuffer::allocate(driver, kMany * 4), o = DeviceBuffer::allocate(driver, kMany * 8),
       p = DeviceBuffer::allocate(driver, kMany * 4);
  ASSERT_TRUE(x.ok() && o.ok() && p.ok());
  for (const DeviceBuffer* buffer : {&*x, &*o, &*p})
    ASSERT_TRUE(judge_->kernels().fill(buffer->address(), 0, buffer->bytes()).ok());
  const std::vector<int64_t> shape = {kMany / 8192, 8192}, strides = {8192, 1};
  const DeviceTensor candidate{x->address(), DType::kF32, shape, strides, x->bytes()};
  const DeviceTensor oracle{o->address(), DType::kF64, shape, strides, o->bytes()};
  const DeviceTensor eager{p->address(), DType::kF32, shape, strides, p->bytes()};
  double best = 1;
  for (int i = 0; i < 5; ++i) {
    const Seconds begin = monotonic_now();
    ASSERT_TRUE(judge_->kernels().compare(candidate, oracle, eager, 0xff).ok());
    best = std::min(best, (monotonic_now() - begin).value);
  }
  std::printf("comparing 2^26 f32 with oracle and eager: %.2f ms, %.2f TB/s\n", best * 1e3, 24e-12 * kMany / best);
  EXPECT_LT(best, 10e-3);
}

TEST_F(LaunchTest, CanBeCapturedInAGraph) {
  InProcess here(*judge_, save(plan_of("honest")));
  ASSERT_TRUE(here.prepare().ok());
  using Begin = int (*)(cu::Stream, int);
  using End = int (*)(cu::Stream, void**);
  using Instantiate = int (*)(void**, void*, unsigned long long);
  using Launch = int (*)(void*, cu::Stream);
  void* cuda = ::dlopen("libcuda.so.1", RTLD_NOW);
  const auto begin = reinterpret_cast<Begin>(::dlsym(cuda, "cuStreamBeginCapture_v2"));
  const auto end = reinterpret_cast<End>(::dlsym(cuda, "cuStreamEndCapture"));
  const auto instantiate = reinterpret_cast<Instantiate>(::dlsym(cuda, "cuGraphInstantiateWithFlags"));
  const auto launch = reinterpret_cast<Launch>(::dlsym(cuda, "cuGraphLaunch"));
  void *graph = nullptr, *runnable = nullptr;
  ASSERT_EQ(begin(here.stream(), 0), 0);  // global mode: any allocation or synchronisation would be refused
  ASSERT_TRUE(here.launch().ok());
  ASSERT_EQ(end(here.stream(), &graph), 0);
  ASSERT_EQ(instantiate(&runnable, graph, 0), 0);
  ASSERT_EQ(judge_->kernels()
                .copy(reinterpret_cast<cu::DevicePtr>(here.tensors()[0]), cases_[0].given["x"].address, kElements * 4)
                .ok(),
            true);
  ASSERT_EQ(judge_->kernels()
                .copy(reinterpret_cast<cu::DevicePtr>(here.tensors()[1]), cases_[0].given["w"].address, kElements * 4)
                .ok(),
            true);
  ASSERT_TRUE(judge_->kernels().finish().ok());
  ASSERT_EQ(launch(runnable, here.stream()), 0);
  here.wait();
  const DeviceTensor y{
      reinterpret_cast<cu::DevicePtr>(here.tensors()[2]), DType::kF32, {kElements}, {1}, kElements * 4};
  const auto found = judge_->kernels().compare(y, cases_[0].expected["y"].oracle, std::nullopt, 0xff);
  ASSERT_TRUE(found.ok());
  EXPECT_LT(found->normwise, 1e-7);
  EXPECT_EQ(found->poison_left, 0);
}

}  // namespace
}  // namespace solstice::run
