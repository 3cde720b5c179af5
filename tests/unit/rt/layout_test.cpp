// Workspace layout, schedules and argument packing.
#include <gtest/gtest.h>

#include <cstring>

#include "base/base64.h"
#include "fake_driver.h"
#include "plans.h"
#include "rt/arguments.h"
#include "rt/schedule.h"
#include "rt/workspace.h"

namespace solstice::rt {
namespace {

TEST(Workspace, BuffersAreAlignedAndDisjoint) {
  Plan plan;
  plan.buffers = {vector_buffer("a", BufferKind::kWorkspace, 1), vector_buffer("x", BufferKind::kInput, 9),
                  vector_buffer("b", BufferKind::kWorkspace, 65), vector_buffer("c", BufferKind::kWorkspace, 1)};
  const WorkspaceLayout layout = lay_out_workspace(plan);
  EXPECT_EQ(layout.offsets, (std::vector<int64_t>{0, -1, 256, 768}));
  EXPECT_EQ(layout.bytes, 1024);
  EXPECT_EQ(lay_out_workspace(Plan{}).bytes, 0);
}

TEST(Workspace, GapsSurroundEveryBuffer) {
  Plan plan;
  plan.buffers = {vector_buffer("a", BufferKind::kWorkspace, 64), vector_buffer("b", BufferKind::kWorkspace, 64)};
  const WorkspaceLayout layout = lay_out_workspace(plan, 4096);
  EXPECT_EQ(layout.offsets, (std::vector<int64_t>{4096, 8448}));
  EXPECT_EQ(layout.bytes, 12800);
}

TEST(Schedule, OneStreamNeedsNoEvents) {
  const Schedule schedule = make_schedule(two_step_plan(), Phase::kLaunch);
  EXPECT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.events, 0);
  EXPECT_TRUE(make_schedule(two_step_plan(), Phase::kPrepare).steps.empty());
}

TEST(Schedule, DependenciesAcrossStreams) {
  Plan plan;
  plan.streams = 3;
  for (int i = 0; i < 4; ++i) plan.steps.push_back(launch_step("s" + std::to_string(i), {}));
  plan.steps[1].stream = 1;
  plan.steps[1].after = {"s0"};
  plan.steps[2].stream = 2;
  plan.steps[3].after = {"s1", "s0"};
  const Schedule schedule = make_schedule(plan, Phase::kLaunch);
  EXPECT_GE(schedule.begin_event, 0);
  EXPECT_EQ(schedule.steps[1].waits, (std::vector<int>{schedule.begin_event, schedule.steps[0].record}));
  EXPECT_EQ(schedule.steps[2].waits, (std::vector<int>{schedule.begin_event}));
  EXPECT_EQ(schedule.steps[3].waits, (std::vector<int>{schedule.steps[1].record}));  // s0 is on its own stream
  EXPECT_EQ(schedule.join, (std::vector<int>{schedule.steps[1].record, schedule.steps[2].record}));
  EXPECT_EQ(schedule.events, 4);
}

TEST(Arguments, ArePackedByKindAndAligned) {
  Argument i32, f32, bytes, map, i64;
  i32.kind = ArgumentKind::kI32;
  i32.integer = -3;
  f32.kind = ArgumentKind::kF32;
  f32.real = 0.5;
  bytes.kind = ArgumentKind::kBytes;
  bytes.bytes = base64_encode("hello");
  map.kind = ArgumentKind::kTensorMap;
  map.map = {.buffer = "x", .extents = {64}, .strides = {}, .box = {32}, .element_strides = {}};
  i64.kind = ArgumentKind::kI64;
  i64.integer = int64_t{1} << 40;
  const std::vector<Argument> arguments = {i32, map, f32, bytes, pointer_argument("x", 32), i64};
  auto packed = PackedArguments::pack(arguments, {{"x", 0}});
  ASSERT_TRUE(packed.ok());
  fake() = FakeLog{};
  ASSERT_TRUE(packed->bind(fake_driver(), {0x4000}, {1}).ok());
  PackedArguments moved = std::move(packed).value();
  void** p = moved.parameters();
  EXPECT_EQ(moved.count(), 6u);
  EXPECT_EQ(*static_cast<int32_t*>(p[0]), -3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p[1]) % 128, 0u);
  EXPECT_EQ(*static_cast<float*>(p[2]), 0.5f);
  EXPECT_EQ(std::memcmp(p[3], "hello", 5), 0);
  EXPECT_EQ(*static_cast<uint64_t*>(p[4]), 0x4020u);
  EXPECT_EQ(*static_cast<int64_t*>(p[5]), int64_t{1} << 40);
  EXPECT_EQ(fake().encoded, (std::vector<uint64_t>{0x4000}));
}

TEST(Arguments, MisalignedTensorMapIsAnError) {
  Argument map;
  map.kind = ArgumentKind::kTensorMap;
  map.map = {.buffer = "x", .extents = {64}, .strides = {}, .box = {32}, .element_strides = {}};
  const std::vector<Argument> arguments = {map};
  auto packed = PackedArguments::pack(arguments, {{"x", 0}});
  ASSERT_TRUE(packed.ok());
  EXPECT_FALSE(packed->bind(fake_driver(), {0x4008}, {1}).ok());
}

}  // namespace
}  // namespace solstice::rt
