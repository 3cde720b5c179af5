// Our declarations against the real cuda.h, where one is installed.
#include "rt/cuda_types.h"

#include <gtest/gtest.h>

#if __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"

namespace solstice {
namespace {

static_assert(sizeof(cu::LaunchConfig) == sizeof(CUlaunchConfig) &&
              sizeof(cu::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cu::LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(cu::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cu::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(cu::LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(offsetof(cu::LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cu::TensorMap) == sizeof(CUtensorMap) && alignof(cu::TensorMap) % alignof(CUtensorMap) == 0);
static_assert(sizeof(cu::IpcMemHandle) == sizeof(CUipcMemHandle) && sizeof(cu::Uuid) == sizeof(CUuuid));
static_assert(sizeof(cu::DevicePtr) == sizeof(CUdeviceptr));
static_assert(static_cast<int>(cu::kL2CacheSize) == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(static_cast<int>(cu::kMultiprocessors) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(static_cast<int>(cu::kComputeMajor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(static_cast<int>(cu::kComputeMinor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(static_cast<int>(cu::kSharedMemoryPerBlockOptin) ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(static_cast<int>(cu::kCooperativeLaunch) == CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
static_assert(static_cast<int>(cu::kLocalBytes) == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(static_cast<int>(cu::kRegisters) == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(static_cast<int>(cu::kMaxDynamicSharedBytes) == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(static_cast<int>(cu::kNonPortableClusterAllowed) == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(static_cast<int>(cu::kAttributeCooperative) == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(static_cast<int>(cu::kAttributeClusterDimension) == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(static_cast<int>(cu::kAttributeProgrammaticStreamSerialization) ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(cu::kNotFound == CUDA_ERROR_NOT_FOUND && cu::kNotReady == CUDA_ERROR_NOT_READY &&
              cu::kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(cu::kCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);

TEST(CudaTypes, AgreeWithTheInstalledHeader) { SUCCEED() << "checked while compiling"; }

}  // namespace
}  // namespace solstice
#else
TEST(CudaTypes, AgreeWithTheInstalledHeader) { GTEST_SKIP() << "no CUDA headers on this machine"; }
#endif
