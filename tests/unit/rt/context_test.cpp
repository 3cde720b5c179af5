// Whose context is current, with a driver that only remembers it.
#include <gtest/gtest.h>

#include "rt/cuda_driver.h"

namespace solstice::rt {
namespace {

cu::Context current = nullptr;

cu::Context context_of(uintptr_t number) { return reinterpret_cast<cu::Context>(number); }

Driver driver_of_two_gpus() {
  Driver d;
  d.cuDeviceGetCount = [](int* count) {
    *count = 2;
    return cu::kSuccess;
  };
  d.cuDeviceGet = [](cu::Device* device, int ordinal) {
    *device = ordinal;
    return cu::kSuccess;
  };
  d.cuDevicePrimaryCtxRetain = [](cu::Context* context, cu::Device device) {
    *context = context_of(static_cast<uintptr_t>(device) + 1);
    return cu::kSuccess;
  };
  d.cuDevicePrimaryCtxRelease = [](cu::Device) { return cu::kSuccess; };
  d.cuCtxGetCurrent = [](cu::Context* context) {
    *context = current;
    return cu::kSuccess;
  };
  d.cuCtxSetCurrent = [](cu::Context context) {
    current = context;
    return cu::kSuccess;
  };
  return d;
}

TEST(InContext, TheOneBeforeIsCurrentAfterwards) {
  const Driver driver = driver_of_two_gpus();
  const auto first = DeviceContext::open(driver, 0), second = DeviceContext::open(driver, 1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(current, context_of(2));
  ASSERT_TRUE(first->make_current().ok());
  {
    const InContext inside(driver, *second);
    EXPECT_EQ(current, context_of(2));
  }
  EXPECT_EQ(current, context_of(1));
}

}  // namespace
}  // namespace solstice::rt
