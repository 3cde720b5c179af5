// Our declarations of NVTX against its own header, where one is installed.
#include "rt/nvtx_types.h"

#include <gtest/gtest.h>

#if __has_include("/usr/local/cuda/include/nvtx3/nvToolsExt.h")
#include "/usr/local/cuda/include/nvtx3/nvToolsExt.h"

namespace solstice::rt::nvtx {
namespace {

static_assert(sizeof(Callbacks) == sizeof(NvtxExportTableCallbacks) &&
              sizeof(VersionInfo) == sizeof(NvtxExportTableVersionInfo));
static_assert(offsetof(Callbacks, table_of) == offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(offsetof(VersionInfo, version) == offsetof(NvtxExportTableVersionInfo, version));
static_assert(offsetof(VersionInfo, set_profiler_version) ==
              offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));
static_assert(static_cast<int>(kCallbacks) == NVTX_ETID_CALLBACKS &&
              static_cast<int>(kVersionInfo) == NVTX_ETID_VERSIONINFO && kVersion == NVTX_VERSION);
static_assert(static_cast<int>(kCore) == NVTX_CB_MODULE_CORE && static_cast<int>(kModules) == NVTX_CB_MODULE_SIZE);
static_assert(static_cast<int>(kRangePushA) == NVTX_CBID_CORE_RangePushA &&
              static_cast<int>(kRangePop) == NVTX_CBID_CORE_RangePop);
static_assert(kSizes[kCore] == NVTX_CBID_CORE_SIZE && kSizes[kCuda] == NVTX_CBID_CUDA_SIZE &&
              kSizes[kOpenCl] == NVTX_CBID_OPENCL_SIZE && kSizes[kCudaRuntime] == NVTX_CBID_CUDART_SIZE &&
              kSizes[kCore2] == NVTX_CBID_CORE2_SIZE && kSizes[kSync] == NVTX_CBID_SYNC_SIZE);

TEST(NvtxTypes, AreThoseOfTheHeader) { SUCCEED() << "checked by the compiler"; }

}  // namespace
}  // namespace solstice::rt::nvtx
#endif
