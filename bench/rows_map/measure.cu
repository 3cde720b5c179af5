// Runs prebuilt cubins of families map and rows: correctness on sampled rows against float64, bandwidth against a
// device-to-device copy in the same process, interleaved.
//
//   measure MANIFEST DIRECTORY
// MANIFEST lines: NAME CUBIN ENTRY KIND ROWS COLUMNS GRID BLOCK CLUSTER SHARED (written by variants.cpp).
// Prints one line a variant: time, TB/s (read plus written), share of the copy, errors (normwise; CUDA's own libm
// kernels beside it where there is one).
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const cudaError_t e = (call);                                                       \
    if (e != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

__global__ void fill(float* x, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    unsigned long long h = (i + 1) * 0x9e3779b97f4a7c15ull + seed;
    h ^= h >> 31, h *= 0xbf58476d1ce4e5b9ull, h ^= h >> 29, h *= 0x94d049bb133111ebull, h ^= h >> 32;
    const float u = (unsigned(h) + 0.5f) * 0x1p-32f, v = (unsigned(h >> 32) + 0.5f) * 0x1p-32f;
    x[i] = sqrtf(-2.f * logf(fminf(u, 0.9999999f))) * cosf(6.2831853f * v);
  }
}

__global__ void count_poison(const unsigned* y, size_t n, unsigned long long* count) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    if (y[i] == 0xffffffffu) atomicAdd(count, 1ull);
  }
}

// CUDA's own functions, element by element, for the errors beside ours.
__global__ void library(const float* x, float* y, size_t n, char kind) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[i] = kind == 'g'   ? v * 0.5f * (1.f + erff(v * 0.70710678f))
         : kind == 't' ? tanhf(v)
         : kind == 'e' ? erff(v)
                       : 1.f / (1.f + expf(-v));
}

struct Variant {
  std::string name, cubin, entry, kind;
  long long rows = 0, columns = 0;
  unsigned grid = 1, block = 1, cluster = 1, shared = 0;
};

double expected(const std::string& kind, double v) {
  if (kind == "gelu") return 0.5 * v * (1 + std::erf(v * M_SQRT1_2));
  if (kind == "tanh") return std::tanh(v);
  if (kind == "erf") return std::erf(v);
  if (kind == "sigmoid") return 1 / (1 + std::exp(-v));
  return v + 1;
}

// What a row (or, for colmax, a column gathered into a row) should become.
std::vector<double> expected_row(const Variant& t, const std::vector<float>& x) {
  std::vector<double> out(x.size());
  const double n = double(x.size());
  if (t.kind == "softmax" || t.kind == "colmax") {
    double top = -INFINITY, sum = 0;
    for (const float v : x) top = std::max(top, double(v));
    for (size_t i = 0; i < x.size(); ++i) sum += out[i] = std::exp(double(x[i]) - top);
    for (double& v : out) v /= sum;
  } else if (t.kind == "layernorm") {
    double mean = 0, var = 0;
    for (const float v : x) mean += v / n;
    for (const float v : x) var += (v - mean) * (v - mean) / n;
    for (size_t i = 0; i < x.size(); ++i) out[i] = (x[i] - mean) / std::sqrt(var + 1e-5);
  } else {
    for (size_t i = 0; i < x.size(); ++i) out[i] = expected(t.kind, x[i]);
  }
  return out;
}

struct Bench {
  float *x = nullptr, *y = nullptr, *ones = nullptr, *zeros = nullptr;
  size_t capacity = size_t(1) << 30;
  cudaEvent_t begin, end;

  Bench() {
    CHECK(cudaMalloc(&x, capacity * 4));
    CHECK(cudaMalloc(&y, capacity * 4));
    CHECK(cudaMalloc(&ones, 4 << 20));
    CHECK(cudaMalloc(&zeros, 4 << 20));
    const std::vector<float> one(1 << 20, 1.f);
    CHECK(cudaMemcpy(ones, one.data(), 4 << 20, cudaMemcpyDefault));
    CHECK(cudaMemset(zeros, 0, 4 << 20));
    fill<<<4096, 256>>>(x, capacity, 7);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }

  template <typename F>
  float time(F&& work) {
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
  }

  void launch(const Variant& t, cudaKernel_t kernel) {
    void* with_weights[] = {&x, &ones, &zeros, &y};
    void* plain[] = {&x, &y};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(t.grid), config.blockDim = dim3(t.block), config.dynamicSmemBytes = t.shared;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {t.cluster, 1, 1};
    config.attrs = &attribute, config.numAttrs = t.cluster > 1 ? 1 : 0;
    CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel),
                              t.kind == "layernorm" ? with_weights : plain));
  }

  double error(const Variant& t, const float* result) {
    double off = 0, norm = 0;
    for (int s = 0; s < 24; ++s) {
      const bool column = t.kind == "colmax";
      const long long lines = column ? t.columns : t.rows, length = column ? t.rows : t.columns;
      const long long line = lines * s / 24 + s % std::max(1ll, lines / 24);
      std::vector<float> a(length), b(length);
      const size_t pitch = column ? t.columns * 4 : 4, start = column ? line : line * length;
      CHECK(cudaMemcpy2D(a.data(), 4, x + start, pitch, 4, length, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy2D(b.data(), 4, result + start, pitch, 4, length, cudaMemcpyDeviceToHost));
      const auto want = expected_row(t, a);
      for (long long i = 0; i < length; ++i) off += (b[i] - want[i]) * (b[i] - want[i]), norm += want[i] * want[i];
    }
    return std::sqrt(off / norm);
  }

  void run(const Variant& t, const std::string& directory) {
    cudaLibrary_t library_handle;
    cudaKernel_t kernel;
    CHECK(cudaLibraryLoadFromFile(&library_handle, (directory + "/" + t.cubin).c_str(), nullptr, nullptr, 0, nullptr,
                                  nullptr, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library_handle, t.entry.c_str()));
    if (t.shared > 48 * 1024) {
      CHECK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, t.shared, 0));
    }
    const size_t n = size_t(t.rows) * t.columns;
    CHECK(cudaMemset(y, 0xff, n * 4));
    launch(t, kernel);
    CHECK(cudaDeviceSynchronize());
    unsigned long long *count, poison = 0;
    CHECK(cudaMalloc(&count, 8));
    CHECK(cudaMemset(count, 0, 8));
    count_poison<<<2048, 256>>>(reinterpret_cast<unsigned*>(y), n, count);
    CHECK(cudaMemcpy(&poison, count, 8, cudaMemcpyDefault));
    CHECK(cudaFree(count));
    const double ours = error(t, y);
    std::vector<float> kernel_ms, copy_ms;
    for (int i = 0; i < 9; ++i) {
      kernel_ms.push_back(time([&] { launch(t, kernel); }));
      copy_ms.push_back(time([&] { CHECK(cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice)); }));
    }
    std::sort(kernel_ms.begin(), kernel_ms.end());
    std::sort(copy_ms.begin(), copy_ms.end());
    const double ms = kernel_ms[4], copy = copy_ms[4];
    double theirs = 0;
    if (t.kind == "gelu" || t.kind == "tanh" || t.kind == "erf" || t.kind == "sigmoid") {
      library<<<(n + 255) / 256, 256>>>(x, y, n, t.kind[0]);
      theirs = error(t, y);
    }
    std::printf("%-34s %8.3f ms %6.3f TB/s  copy %6.3f TB/s  share %.3f  error %.2e (libm %.2e)%s\n", t.name.c_str(),
                ms, n * 8e-9 / ms, n * 8e-9 / copy, copy / ms, ours, theirs, poison ? "  UNWRITTEN" : "");
    std::fflush(stdout);
    CHECK(cudaLibraryUnload(library_handle));
  }
};

int main(int argc, char** argv) {
  if (argc != 3) return std::printf("usage: measure MANIFEST DIRECTORY\n"), 2;
  Bench bench;
  std::ifstream manifest(argv[1]);
  for (std::string line; std::getline(manifest, line);) {
    Variant t;
    std::istringstream in(line);
    if (in >> t.name >> t.cubin >> t.entry >> t.kind >> t.rows >> t.columns >> t.grid >> t.block >> t.cluster >>
        t.shared)
      bench.run(t, argv[2]);
  }
  return 0;
}
