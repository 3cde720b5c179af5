#include "rt/executor.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "fake_driver.h"
#include "plans.h"

namespace solstice::rt {
namespace {

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

class ExecutorTest : public testing::Test {
 protected:
  void SetUp() override { fake() = FakeLog{}; }

  std::unique_ptr<Executor> make(Plan plan) {
    auto loaded = make_loaded_plan(std::move(plan), {fake_cubin()});
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text());
    auto executor = Executor::create(fake_driver(), std::move(loaded).value());
    return std::move(executor).value();
  }
  std::string message(const Status& status) { return status.ok() ? "" : status.error().sentence(); }
};

TEST_F(ExecutorTest, RunsStepsInOrderWithBoundPointers) {
  auto executor = make(two_step_plan());
  EXPECT_EQ(executor->tensor_count(), 2u);
  EXPECT_EQ(executor->tensor(1).name, "y");
  EXPECT_EQ(executor->workspace_bytes(), 256);
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  fake().calls.clear();
  fake().arguments = 1;
  ASSERT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().calls, (std::vector<std::string>{"launch s0 grid 1", "launch s0 grid 1"}));
  EXPECT_EQ(fake().first_arguments, (std::vector<uint64_t>{0x1010, 0x3000}));
}

TEST_F(ExecutorTest, LaunchNeitherAllocatesNorSynchronisesAndFollowsMovedTensors) {
  auto executor = make(two_step_plan());
  ASSERT_TRUE(executor->prepare(std::vector<void*>{at(0x1000), at(0x2000)}, at(0x3000), nullptr).ok());
  fake().calls.clear();
  fake().arguments = 1;
  ASSERT_TRUE(executor->launch(std::vector<void*>{at(0x5000), at(0x2000)}, at(0x9000), nullptr).ok());
  EXPECT_EQ(fake().first_arguments, (std::vector<uint64_t>{0x5010, 0x9000}));
  EXPECT_EQ(fake().calls.size(), 2u);
}

TEST_F(ExecutorTest, TensorMapsAreEncodedAgainOnlyForMovedBuffers) {
  Plan plan = two_step_plan();
  Argument map;
  map.kind = ArgumentKind::kTensorMap;
  map.map = {.buffer = "x", .extents = {64}, .strides = {}, .box = {32}, .element_strides = {}};
  Argument other = map;
  other.map.buffer = "y";
  plan.steps[0].arguments = {map, other};
  auto executor = make(plan);
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().encoded, (std::vector<uint64_t>{0x1000, 0x2000}));
  ASSERT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().encoded.size(), 2u);
  ASSERT_TRUE(executor->launch(std::vector<void*>{at(0x1000), at(0x4000)}, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().encoded, (std::vector<uint64_t>{0x1000, 0x2000, 0x4000}));
}

TEST_F(ExecutorTest, AttributesClustersAndSharedMemory) {
  Plan plan = two_step_plan();
  plan.steps[0].cluster = {16, 1, 1};
  plan.steps[0].grid = {32, 1, 1};
  plan.steps[0].shared_bytes = 100000;
  plan.steps[1].pdl = true;
  plan.steps[1].cooperative = true;
  auto executor = make(plan);
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().count("attribute 8=100000"), 1u);
  EXPECT_EQ(fake().count("attribute 14=1"), 1u);
  fake().calls.clear();
  ASSERT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().calls, (std::vector<std::string>{"launch s0 grid 32 a4", "launch s0 grid 1 a2 a6"}));
}

TEST_F(ExecutorTest, StreamsForkAndJoinWithEvents) {
  Plan plan = two_step_plan();
  plan.streams = 2;
  plan.steps[0].stream = 1;
  plan.steps[1].after = {"first"};
  auto executor = make(plan);
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  fake().calls.clear();
  ASSERT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  ASSERT_EQ(fake().calls.size(), 7u);
  EXPECT_TRUE(fake().calls[0].starts_with("record e") && fake().calls[0].ends_with(" s0"));
  EXPECT_TRUE(fake().calls[1].starts_with("wait s") && !fake().calls[1].starts_with("wait s0"));
  EXPECT_TRUE(fake().calls[2].starts_with("launch s") && !fake().calls[2].starts_with("launch s0"));
  EXPECT_TRUE(fake().calls[3].starts_with("record e"));
  EXPECT_TRUE(fake().calls[4].starts_with("wait s0"));
  EXPECT_TRUE(fake().calls[5].starts_with("launch s0"));
  EXPECT_EQ(fake().calls[6], fake().calls[4]);  // the join
}

TEST_F(ExecutorTest, PreparePhaseRunsOnceAndPinsWhatItUsed) {
  Plan plan = two_step_plan();
  plan.buffers[0].kind = BufferKind::kParam;
  plan.buffers[1].persistent = true;
  plan.steps[0].phase = Phase::kPrepare;
  auto executor = make(plan);
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().count("launch"), 1u);
  ASSERT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().count("launch"), 2u);
  EXPECT_NE(
      message(executor->launch(std::vector<void*>{at(0x8000), at(0x2000)}, at(0x3000), nullptr)).find("prepare again"),
      std::string::npos);
  EXPECT_NE(message(executor->launch(tensors, at(0x7000), nullptr)).find("prepare again"), std::string::npos);
  EXPECT_TRUE(executor->launch(std::vector<void*>{at(0x1000), at(0x6000)}, at(0x3000), nullptr).ok());
}

TEST_F(ExecutorTest, ConstantsMemsetsAndCopies) {
  Plan plan = two_step_plan();
  PlanBuffer constant = vector_buffer("c", BufferKind::kConstant, 2);
  constant.data = base64_encode("12345678");
  plan.buffers.push_back(constant);
  Step set, copy;
  set.name = "set";
  set.kind = StepKind::kMemset;
  set.buffer = "t";
  set.bytes = 64;
  set.pattern = 5;
  set.pattern_bytes = 4;
  copy.name = "copy";
  copy.kind = StepKind::kCopy;
  copy.buffer = "y";
  copy.from = "c";
  copy.bytes = 8;
  plan.steps = {set, copy};
  auto executor = make(plan);
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().count("upload 0x100000 8"), 1u);
  fake().calls.clear();
  ASSERT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().calls, (std::vector<std::string>{"set32 0x3000 5 16", "copy 0x2000 0x100000 8"}));
}

TEST_F(ExecutorTest, EachContextIsPreparedOnItsOwn) {
  auto executor = make(two_step_plan());
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  fake().context = 8;
  EXPECT_NE(message(executor->launch(tensors, at(0x3000), nullptr)).find("not prepared"), std::string::npos);
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  EXPECT_TRUE(executor->launch(tensors, at(0x3000), nullptr).ok());
  EXPECT_EQ(fake().count("load"), 1u);
  EXPECT_EQ(fake().count("function"), 4u);
}

TEST_F(ExecutorTest, MistakesAreNamed) {
  auto executor = make(two_step_plan());
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  EXPECT_NE(message(executor->launch(tensors, at(0x3000), nullptr)).find("not prepared"), std::string::npos);
  EXPECT_NE(message(executor->prepare(std::vector<void*>{at(0x1000)}, at(0x3000), nullptr))
                .find("1 tensors were given, the plan has 2"),
            std::string::npos);
  EXPECT_NE(
      message(executor->prepare(std::vector<void*>{at(0x1000), nullptr}, at(0x3000), nullptr)).find("`y` is null"),
      std::string::npos);
  EXPECT_NE(message(executor->prepare(std::vector<void*>{at(0x1008), at(0x2000)}, at(0x3000), nullptr))
                .find("16-byte alignment"),
            std::string::npos);
  EXPECT_NE(message(executor->prepare(tensors, at(0x3010), nullptr)).find("256-byte aligned"), std::string::npos);
  fake().context = 0;
  EXPECT_NE(message(executor->prepare(tensors, at(0x3000), nullptr)).find("no current CUDA context"),
            std::string::npos);
}

TEST_F(ExecutorTest, WrongGpuAndFailingLaunch) {
  fake().major = 8;
  const std::vector<void*> tensors = {at(0x1000), at(0x2000)};
  EXPECT_NE(message(make(two_step_plan())->prepare(tensors, at(0x3000), nullptr)).find("this GPU is sm_80"),
            std::string::npos);
  fake().major = 9;
  auto executor = make(two_step_plan());
  ASSERT_TRUE(executor->prepare(tensors, at(0x3000), nullptr).ok());
  fake().launch_result = 719;
  const Status failed = executor->launch(tensors, at(0x3000), nullptr);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::cuda_error);
  EXPECT_NE(failed.error().message.find("`first`"), std::string::npos);
}

}  // namespace
}  // namespace solstice::rt
