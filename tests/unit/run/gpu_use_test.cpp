#include "run/gpu_use.h"

#include <gtest/gtest.h>

namespace solstice::run {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

GpuUse use_of(int utilization, double used, std::vector<GpuUser> users) {
  return {"a GPU", "580", utilization, Bytes(used * kGiB), Bytes(140 * kGiB), std::move(users)};
}

TEST(GpuUse, ABusyGpuIsRefusedByName) {
  const Status refused = refuse_busy(use_of(97, 30, {{4711, "trainer", Bytes(29 * kGiB)}, {12, "", Bytes(0)}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::gpu_busy);
  EXPECT_EQ(refused.error().message,
            "the GPU (a GPU) is 97 % busy, by process 4711 (trainer) with 29.0 GiB, process 12; times taken beside other work mean "
            "nothing: wait for it to end, or choose another GPU with CUDA_VISIBLE_DEVICES");
  EXPECT_NE(refuse_busy(use_of(97, 0, {})).error().message.find("does not show here"), std::string::npos);
}

TEST(GpuUse, IdleMemoryIsNotedOnly) {
  const GpuUse idle = use_of(0, 12, {{99, "notebook", Bytes(12 * kGiB)}});
  EXPECT_TRUE(refuse_busy(idle).ok());
  EXPECT_NE(memory_note(idle).find("process 99 (notebook) with 12.0 GiB"), std::string::npos);
  EXPECT_EQ(memory_note(use_of(0, 0.4, {})), "");
}

TEST(GpuUse, WithoutAGpuItSaysSo) {
  const Result<GpuUse> use = gpu_use("0000:ff:ff.0");
  EXPECT_TRUE(use.ok() || use.error().code == Code::no_driver);
}

}  // namespace
}  // namespace solstice::run
