// Runs a plan on random inputs, for a profiler. `solstice compile --keep` puts it beside plan.json, its cubins and
// libsolstice_rt.so:
//
//   nvcc -std=c++17 -o launch launch.cu -L. -lsolstice_rt -Xlinker -rpath=.
//   ./launch [TIMES [PLAN]]
//
// A cubin of your own in the place of one of the plan's needs its hash in plan.json.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

// src/rt/solstice_rt.h
extern "C" {
struct solstice_rt_plan;
int solstice_rt_load(const char* plan, solstice_rt_plan** out, char* err, size_t err_len);
size_t solstice_rt_tensor_count(const solstice_rt_plan* plan);
const char* solstice_rt_tensor_name(const solstice_rt_plan* plan, size_t i);
const char* solstice_rt_tensor_kind(const solstice_rt_plan* plan, size_t i);
const char* solstice_rt_tensor_dtype(const solstice_rt_plan* plan, size_t i);
int64_t solstice_rt_tensor_bytes(const solstice_rt_plan* plan, size_t i);
size_t solstice_rt_workspace_bytes(const solstice_rt_plan* plan);
int solstice_rt_prepare(solstice_rt_plan* plan, void* const* tensors, void* workspace, void* stream, char* err,
                        size_t err_len);
int solstice_rt_launch(solstice_rt_plan* plan, void* const* tensors, void* workspace, void* stream, char* err,
                       size_t err_len);
}

static char said[4096];

static void check(bool good, const char* doing, const char* why) {
  if (good) return;
  std::fprintf(stderr, "launch: cannot %s: %s\n", doing, why);
  std::exit(1);
}

static void check(cudaError_t error, const char* doing) {
  check(error == cudaSuccess, doing, cudaGetErrorString(error));
}

template <typename T, typename Make>
static void fill(std::vector<char>& bytes, Make make) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = make();
    std::memcpy(&bytes[at], &value, sizeof(T));
  }
}

// Reals from -1 to 1. Integers may be indices: they are small.
static std::vector<char> random_values(const std::string& dtype, size_t size) {
  static std::mt19937 random(42);
  std::uniform_real_distribution<float> real(-1, 1);
  const auto whole = [&] { return static_cast<int>(random() % 2); };
  std::vector<char> bytes(size);
  if (dtype == "f32") {
    fill<float>(bytes, [&] { return real(random); });
  } else if (dtype == "f64") {
    fill<double>(bytes, [&] { return real(random); });
  } else if (dtype == "f16") {
    fill<__half>(bytes, [&] { return __float2half(real(random)); });
  } else if (dtype == "bf16") {
    fill<__nv_bfloat16>(bytes, [&] { return __float2bfloat16(real(random)); });
  } else if (dtype == "i64") {
    fill<int64_t>(bytes, whole);
  } else if (dtype == "i32") {
    fill<int32_t>(bytes, whole);
  } else if (dtype == "i16") {
    fill<int16_t>(bytes, whole);
  } else if (dtype == "e4m3" || dtype == "e5m2") {
    fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(random() & 0xb7); });  // below 1
  } else {
    fill<uint8_t>(bytes, whole);
  }
  return bytes;
}

static void* allocate(size_t bytes) {
  void* at = nullptr;
  if (bytes > 0) check(cudaMalloc(&at, bytes), "allocate memory");
  return at;
}

static std::vector<void*> make_tensors(const solstice_rt_plan* plan) {
  std::vector<void*> tensors;
  for (size_t i = 0; i < solstice_rt_tensor_count(plan); ++i) {
    const auto values =
        random_values(solstice_rt_tensor_dtype(plan, i), static_cast<size_t>(solstice_rt_tensor_bytes(plan, i)));
    tensors.push_back(allocate(values.size()));
    check(cudaMemcpy(tensors.back(), values.data(), values.size(), cudaMemcpyHostToDevice), "fill a tensor");
    std::printf("%-8s %-5s %12zu bytes  %s\n", solstice_rt_tensor_kind(plan, i), solstice_rt_tensor_dtype(plan, i),
                values.size(), solstice_rt_tensor_name(plan, i));
  }
  return tensors;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  check(times > 0, "start", "usage: launch [TIMES [PLAN]]");
  check(cudaFree(nullptr), "start CUDA");
  solstice_rt_plan* plan = nullptr;
  check(solstice_rt_load(argc > 2 ? argv[2] : "plan.json", &plan, said, sizeof said) == 0, "load the plan", said);
  const std::vector<void*> tensors = make_tensors(plan);
  void* const workspace = allocate(solstice_rt_workspace_bytes(plan));
  check(solstice_rt_prepare(plan, tensors.data(), workspace, nullptr, said, sizeof said) == 0, "prepare", said);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "create an event");
  check(cudaEventCreate(&end), "create an event");
  for (int i = 0; i < times; ++i) {
    check(cudaEventRecord(begin), "record an event");
    check(solstice_rt_launch(plan, tensors.data(), workspace, nullptr, said, sizeof said) == 0, "launch", said);
    check(cudaEventRecord(end), "record an event");
    check(cudaEventSynchronize(end), "run the plan");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "read the time");
    std::printf("call %d: %.2f us\n", i + 1, milliseconds * 1e3);
  }
}
