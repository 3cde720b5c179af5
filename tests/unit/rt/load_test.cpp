#include "rt/load.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "plans.h"
#include "rt/cuda_driver.h"
#include "rt/dlpack.h"

namespace solstice::rt {
namespace {

class LoadTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::create("plan");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(folder).value());
    ASSERT_TRUE(write_file(folder_->path() / "m.cubin", fake_cubin()).ok());
  }
  Result<LoadedPlan> load(const Plan& plan) {
    SOLSTICE_CHECK(write_file(folder_->path() / "plan.json", to_json(plan).dump(1)));
    return load_plan(folder_->path() / "plan.json");
  }
  std::string failure(const Plan& plan) {
    const auto loaded = load(plan);
    return loaded.ok() ? "loaded" : loaded.error().text();
  }
  std::optional<TempFolder> folder_;
};

TEST_F(LoadTest, PlanWithItsCubins) {
  const auto loaded = load(two_step_plan());
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->cubins[0], fake_cubin());
  EXPECT_EQ(loaded->interface, (std::vector<size_t>{0, 2}));
}

TEST_F(LoadTest, AnotherCubinIsRefused) {
  Plan plan = two_step_plan();
  plan.modules[0].hash = "00";
  EXPECT_NE(failure(plan).find("build the plan again"), std::string::npos);
}

TEST_F(LoadTest, CubinsLieBesideThePlan) {
  Plan plan = two_step_plan();
  plan.modules[0].cubin = "../m.cubin";
  EXPECT_NE(failure(plan).find("is not a file name beside the plan"), std::string::npos);
  plan.modules[0].cubin = "missing.cubin";
  EXPECT_NE(failure(plan).find("missing.cubin"), std::string::npos);
}

TEST_F(LoadTest, InvalidPlansAreRefusedByName) {
  Plan plan = two_step_plan();
  plan.steps[1].arguments[0].buffer = "nowhere";
  EXPECT_NE(failure(plan).find("`nowhere`"), std::string::npos);
  plan = two_step_plan();
  plan.steps[0].block = {2048, 1, 1};
  EXPECT_NE(failure(plan).find("2048 threads"), std::string::npos);
  plan = two_step_plan();
  plan.buffers[0].alignment = 24;
  EXPECT_NE(failure(plan).find("alignment 24"), std::string::npos);
  plan = two_step_plan();
  plan.streams = 0;
  EXPECT_NE(failure(plan).find("0 streams"), std::string::npos);
  plan = two_step_plan();
  plan.steps[0].cluster = {32, 1, 1};
  plan.steps[0].grid = {32, 1, 1};
  EXPECT_NE(failure(plan).find("32 blocks a cluster"), std::string::npos);
}

TEST_F(LoadTest, NoFileAndNoJson) {
  EXPECT_EQ(load_plan(folder_->path() / "none.json").error().code, Code::not_found);
  ASSERT_TRUE(write_file(folder_->path() / "plan.json", "{").ok());
  EXPECT_EQ(load_plan(folder_->path() / "plan.json").error().code, Code::bad_json);
}

TEST(Driver, WithoutOneTheErrorSaysSo) {
  const auto driver = cuda_driver();
  if (driver.ok()) GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_TRUE(driver.error().code == Code::no_driver || driver.error().code == Code::no_gpu);
  EXPECT_FALSE(driver.error().message.empty());
}

TEST(DLPack, TensorsAreCheckedAgainstTheBuffer) {
  PlanBuffer buffer = vector_buffer("x", BufferKind::kInput, 6);
  buffer.shape = {2, 1, 3};
  buffer.strides = {3, 3, 1};
  int64_t shape[] = {2, 1, 3}, strides[] = {3, 77, 1};
  DLTensor tensor{reinterpret_cast<void*>(0x1000), {2, 0}, 3, {2, 32, 1}, shape, strides, 8};
  auto address = checked_address(tensor, buffer);
  ASSERT_TRUE(address.ok()) << address.error().text();
  EXPECT_EQ(*address, reinterpret_cast<void*>(0x1008));
  tensor.strides = nullptr;
  EXPECT_TRUE(checked_address(tensor, buffer).ok());
  tensor.dtype.bits = 16;
  EXPECT_NE(checked_address(tensor, buffer).error().message.find("f32"), std::string::npos);
  tensor.dtype.bits = 32;
  tensor.device.type = 1;
  EXPECT_FALSE(checked_address(tensor, buffer).ok());
  tensor.device.type = 2;
  shape[0] = 4;
  EXPECT_NE(checked_address(tensor, buffer).error().message.find("[4, 1, 3]"), std::string::npos);
  shape[0] = 2;
  strides[2] = 2;
  tensor.strides = strides;
  EXPECT_NE(checked_address(tensor, buffer).error().message.find("strides"), std::string::npos);
}

}  // namespace
}  // namespace solstice::rt
