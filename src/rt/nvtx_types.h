// The side of NVTX 3 that a profiler attaches to, declared by us so that no header of CUDA is needed
// (nvtx3/nvtxDetail/nvtxTypes.h; a test compares the two where that is installed).
#pragma once

#include <cstddef>
#include <cstdint>

namespace solstice::rt::nvtx {

inline constexpr const char* kInjection = "NVTX_INJECTION64_PATH";      // environment: the profiler's library
inline constexpr const char* kInitialize = "InitializeInjectionNvtx2";  // its function

using Function = void (*)();

// The profiler writes its functions through a module's table of `size` places, by callback id.
enum Module { kCore = 1, kCuda = 2, kOpenCl = 3, kCudaRuntime = 4, kCore2 = 5, kSync = 6, kModules = 7 };
enum Core { kRangePushA = 9, kRangePop = 11 };
inline constexpr unsigned kSizes[kModules] = {0, 16, 9, 15, 7, 16, 7};  // by module

struct Callbacks {
  size_t struct_size;
  int (*table_of)(int module, Function*** table, unsigned* size);  // 1: done
};
struct VersionInfo {
  size_t struct_size;
  uint32_t version;
  uint32_t reserved;
  void (*set_profiler_version)(uint32_t version);
};
enum Export { kCallbacks = 1, kVersionInfo = 3 };
inline constexpr uint32_t kVersion = 3;

using GetExport = const void* (*)(uint32_t which);
using Initialize = int (*)(GetExport);  // of the profiler; 1: attached

}  // namespace solstice::rt::nvtx
