#include "run/gpu_use.h"

#include <gtest/gtest.h>

namespace solstice::run {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

GpuUse use_of(int utilization, double used, std::vector<GpuUser> users) {
  return {"a GPU", "580", utilization, "", Bytes(used * kGiB), Bytes(140 * kGiB), std::move(users)};
}

TEST(GpuUse, ABusyGpuIsRefusedByName) {
  const Status refused = refuse_busy(use_of(97, 30, {{4711, "trainer", Bytes(29 * kGiB)}, {12, "", Bytes(0)}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::gpu_busy);
  EXPECT_EQ(refused.error().message,
            "the GPU (a GPU) is 97 % busy, by process 4711 (trainer) with 29.0 GiB, process 12, and times measured "
            "next to other work are not valid");
  EXPECT_EQ(refused.error().hint, "wait for it to end, or choose another GPU with CUDA_VISIBLE_DEVICES");
  EXPECT_NE(refuse_busy(use_of(97, 0, {})).error().message.find("does not show here"), std::string::npos);
}

TEST(GpuUse, IdleMemoryIsNotedOnly) {
  const GpuUse idle = use_of(0, 12, {{99, "notebook", Bytes(12 * kGiB)}});
  EXPECT_TRUE(refuse_busy(idle).ok());
  EXPECT_NE(use_note(idle).find("process 99 (notebook) with 12.0 GiB"), std::string::npos);
  EXPECT_EQ(use_note(use_of(0, 0.4, {})), "");
}

TEST(GpuUse, TheCallersOwnWorkIsExcusedAndNoOther) {
  EXPECT_TRUE(refuse_busy(use_of(97, 1, {{4711, "python", Bytes(0)}}), 4711).ok());
  EXPECT_FALSE(refuse_busy(use_of(97, 1, {{4711, "python", Bytes(0)}})).ok());
  EXPECT_FALSE(refuse_busy(use_of(97, 1, {{4711, "python", Bytes(0)}, {12, "trainer", Bytes(0)}}), 4711).ok());
  EXPECT_FALSE(refuse_busy(use_of(97, 1, {}), 4711).ok());  // somebody is, and it is not shown
}

TEST(GpuUse, AnUnknownUtilizationIsSaid) {
  GpuUse use = use_of(0, 0, {});
  use.utilization.reset();
  use.unknown = "NVML error 3";
  EXPECT_TRUE(refuse_busy(use).ok());
  EXPECT_NE(use_note(use).find("unknown: its utilization cannot be read (NVML error 3)"), std::string::npos)
      << use_note(use);
}

TEST(GpuUse, WithoutAGpuItSaysSo) {
  const Result<GpuUse> use = gpu_use("0000:ff:ff.0");
  EXPECT_TRUE(use.ok() || use.error().code == Code::no_driver);
}

}  // namespace
}  // namespace solstice::run
