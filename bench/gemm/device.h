// Host helpers of the GEMM bench: checked CUDA calls, device arrays, tensor maps, cuBLAS by dlopen.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                               \
  do {                                                                            \
    const cudaError_t error_ = (call);                                            \
    if (error_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)

template <typename T>
struct Array {
  T* data = nullptr;
  size_t count = 0;
  Array() = default;
  explicit Array(size_t n) : count(n) { CHECK(cudaMalloc(&data, (n ? n : 1) * sizeof(T))); }
  Array(const Array&) = delete;
  Array& operator=(Array&& o) noexcept {
    std::swap(data, o.data);
    std::swap(count, o.count);
    return *this;
  }
  Array(Array&& o) noexcept { *this = std::move(o); }
  ~Array() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> v(count);
    CHECK(cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

// A 3-D tensor map: extents and box innermost first, strides in bytes of dims 1 and 2.
inline CUtensorMap make_map(CUtensorMapDataType type, void* data, const cuuint64_t (&extents)[3],
                            const cuuint64_t (&strides)[2], const cuuint32_t (&box)[3], CUtensorMapSwizzle swizzle) {
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                              const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  static Encode encode = [] {
    void* f = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
    return reinterpret_cast<Encode>(f);
  }();
  CUtensorMap map;
  const cuuint32_t ones[3] = {1, 1, 1};
  const CUresult result = encode(&map, type, 3, data, extents, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::printf("cuTensorMapEncodeTiled: error %d (extents %llu %llu %llu)\n", result, (unsigned long long)extents[0],
                (unsigned long long)extents[1], (unsigned long long)extents[2]);
    std::exit(1);
  }
  return map;
}

// cublasSgemmStridedBatched in CUBLAS_DEFAULT_MATH (fp32), from the library named by CUBLAS or found by the
// loader.
struct Cublas {
  using Create = int (*)(void**);
  using SetStream = int (*)(void*, cudaStream_t);
  using Sgemm = int (*)(void*, int, int, int, int, int, const float*, const float*, int, long long, const float*, int,
                        long long, const float*, float*, int, long long, int);
  void* handle = nullptr;
  Sgemm sgemm = nullptr;

  Cublas() {
    const char* named = std::getenv("CUBLAS");
    void* library = dlopen(named ? named : "libcublas.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      std::printf("no cuBLAS: %s (set CUBLAS to its path)\n", dlerror());
      std::exit(1);
    }
    reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"))(&handle);
    sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cublasSgemmStridedBatched"));
  }
};
