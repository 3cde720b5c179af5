#include "record/plan.h"

#include <gtest/gtest.h>

#include <functional>

namespace solstice {
namespace {

PlanBuffer buffer(const std::string& name, BufferKind kind, int64_t rows, int64_t columns) {
  PlanBuffer b;
  b.name = name;
  b.kind = kind;
  b.shape = {rows, columns};
  b.strides = {columns, 1};
  b.bytes = rows * columns * 4;
  return b;
}

// One kernel that reads x through a tensor map and writes y.
Plan sample_plan() {
  Plan plan;
  plan.program = "p";
  plan.target = "sm_90a";
  plan.buffers = {buffer("x", BufferKind::kInput, 128, 64), buffer("y", BufferKind::kOutput, 128, 64)};
  plan.modules = {{"m", "m.cubin", "0", ""}};
  Step launch;
  launch.name = "up";
  launch.module = "m";
  launch.entry = "kernel";
  launch.grid = {4, 1, 1};
  launch.block = {128, 1, 1};
  launch.cluster = {2, 1, 1};
  Argument map;
  map.kind = ArgumentKind::kTensorMap;
  map.map.buffer = "x";
  map.map.extents = {64, 128};
  map.map.strides = {256};
  map.map.box = {32, 64};
  map.map.swizzle = 128;
  Argument out;
  out.buffer = "y";
  launch.arguments = {map, out};
  plan.steps = {launch};
  return plan;
}

TEST(Plan, ASoundPlanIsAccepted) {
  const Status valid = validate(sample_plan());
  EXPECT_TRUE(valid.ok()) << valid.error().text();
}

TEST(Plan, RoundTripsThroughJson) {
  const Json json = to_json(sample_plan());
  const Result<Plan> back = from_json<Plan>(*parse_json(json.dump()));
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_json(*back), json);
}

struct Broken {
  const char* name;
  std::function<void(Plan&)> change;
  const char* says;
};

class BrokenPlan : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenPlan, IsRefusedWithTheReason) {
  Plan plan = sample_plan();
  GetParam().change(plan);
  const Status valid = validate(plan);
  ASSERT_FALSE(valid.ok());
  EXPECT_EQ(valid.error().code, Code::bad_record);
  EXPECT_NE(valid.error().message.find(GetParam().says), std::string::npos) << valid.error().message;
}

Step memset_of(const std::string& target, int64_t offset, int64_t bytes) {
  Step step;
  step.name = "clear";
  step.kind = StepKind::kMemset;
  step.buffer = target;
  step.offset = offset;
  step.bytes = bytes;
  return step;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BrokenPlan,
    ::testing::Values(
        Broken{"two_buffers", [](Plan& p) { p.buffers[1].name = "x"; }, "two plan buffers"},
        Broken{"no_module", [](Plan& p) { p.steps[0].module = "n"; }, "no module"},
        Broken{"no_entry", [](Plan& p) { p.steps[0].entry = ""; }, "no entry"},
        Broken{"threads",
               [](Plan& p) {
                 p.steps[0].block = {2048, 1, 1};
               },
               "2048 threads"},
        Broken{"grid",
               [](Plan& p) {
                 p.steps[0].grid = {2, 70000, 1};
               },
               "grid[1]"},
        Broken{"cluster",
               [](Plan& p) {
                 p.steps[0].grid = {3, 1, 1};
               },
               "multiple of cluster"},
        Broken{"pointer", [](Plan& p) { p.steps[0].arguments[1].buffer = "z"; }, "no buffer `z`"},
        Broken{"pointer_offset", [](Plan& p) { p.steps[0].arguments[1].offset = 1 << 20; }, "outside `y`"},
        Broken{"map_stride", [](Plan& p) { p.steps[0].arguments[0].map.strides = {252}; }, "multiple of 16"},
        Broken{"map_box",
               [](Plan& p) {
                 p.steps[0].arguments[0].map.box = {512, 1};
               },
               "box 512"},
        Broken{"map_swizzle", [](Plan& p) { p.steps[0].arguments[0].map.swizzle = 64; }, "swizzle"},
        Broken{"map_range", [](Plan& p) { p.steps[0].arguments[0].map.extents[1] = 129; }, "outside `x`"},
        Broken{"map_rank", [](Plan& p) { p.steps[0].arguments[0].map.extents = {}; }, "1 to 5 dimensions"},
        Broken{"stream", [](Plan& p) { p.steps[0].stream = 1; }, "stream 1 of 1"},
        Broken{"after", [](Plan& p) { p.steps[0].after = {"later"}; }, "no earlier step"},
        Broken{"step_twice", [](Plan& p) { p.steps.push_back(p.steps[0]); }, "used twice"},
        Broken{"memset_range", [](Plan& p) { p.steps.push_back(memset_of("y", 16, 128 * 64 * 4)); }, "outside `y`"},
        Broken{"memset_negative", [](Plan& p) { p.steps.push_back(memset_of("y", -4, 4)); }, "outside `y`"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace solstice
