// A CUDA driver that only writes down what it is asked to do.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "rt/cuda_driver.h"

namespace solstice::rt {

struct FakeLog {
  std::vector<std::string> calls;
  std::vector<uint64_t> first_arguments;  // of each launch: its first 8-byte argument, 0 without arguments
  std::vector<uint64_t> encoded;          // addresses of encoded TMA descriptors
  uintptr_t next = 1;
  uintptr_t context = 7;
  size_t arguments = 0;
  cu::Result launch_result = cu::kSuccess;
  int major = 9, minor = 0;

  size_t count(const std::string& prefix) const {
    size_t n = 0;
    for (const std::string& call : calls) n += call.starts_with(prefix);
    return n;
  }
};

inline FakeLog& fake() {
  static FakeLog log;
  return log;
}

template <typename T>
cu::Result fake_handle(T* out, const char* what) {
  fake().calls.emplace_back(what);
  *out = reinterpret_cast<T>(fake().next++);
  return cu::kSuccess;
}

inline const Driver& fake_driver() {
  static const Driver driver = [] {
    Driver d;
    d.cuGetErrorName = [](cu::Result, const char** name) {
      *name = "CUDA_ERROR_FAKE";
      return cu::kSuccess;
    };
    d.cuGetErrorString = [](cu::Result, const char** text) {
      *text = "fake trouble";
      return cu::kSuccess;
    };
    d.cuCtxGetCurrent = [](cu::Context* c) {
      *c = reinterpret_cast<cu::Context>(fake().context);
      return cu::kSuccess;
    };
    d.cuCtxGetDevice = [](cu::Device* device) {
      *device = 0;
      return cu::kSuccess;
    };
    d.cuDeviceGetAttribute = [](int* v, cu::DeviceAttribute a, cu::Device) {
      *v = a == cu::kComputeMajor ? fake().major : fake().minor;
      return cu::kSuccess;
    };
    d.cuLibraryLoadData = [](cu::Library* l, const void*, void*, void**, unsigned, void*, void**, unsigned) {
      return fake_handle(l, "load");
    };
    d.cuThreadExchangeStreamCaptureMode = [](int*) { return cu::kSuccess; };
    d.cuLibraryUnload = [](cu::Library) { return cu::kSuccess; };
    d.cuLibraryGetKernel = [](cu::Kernel* k, cu::Library, const char* name) {
      return fake_handle(k, fmt::format("kernel {}", name).c_str());
    };
    d.cuKernelGetFunction = [](cu::Function* f, cu::Kernel) { return fake_handle(f, "function"); };
    d.cuKernelSetAttribute = [](cu::FunctionAttribute a, int v, cu::Kernel, cu::Device) {
      fake().calls.push_back(fmt::format("attribute {}={}", static_cast<int>(a), v));
      return cu::kSuccess;
    };
    d.cuLaunchKernelEx = [](const cu::LaunchConfig* c, cu::Function, void** parameters, void**) {
      uint64_t first = 0;
      if (fake().arguments > 0) std::memcpy(&first, parameters[0], sizeof first);
      fake().first_arguments.push_back(first);
      std::string attributes;
      for (unsigned i = 0; i < c->attribute_count; ++i)
        attributes += fmt::format(" a{}", static_cast<int>(c->attributes[i].id));
      fake().calls.push_back(
          fmt::format("launch s{} grid {}{}", reinterpret_cast<uintptr_t>(c->stream), c->grid[0], attributes));
      return fake().launch_result;
    };
    d.cuMemAlloc = [](cu::DevicePtr* p, size_t n) {
      fake().calls.push_back(fmt::format("alloc {}", n));
      *p = 0x100000;
      return cu::kSuccess;
    };
    d.cuMemFree = [](cu::DevicePtr) { return cu::kSuccess; };
    d.cuMemcpyHtoD = [](cu::DevicePtr p, const void*, size_t n) {
      fake().calls.push_back(fmt::format("upload {:#x} {}", p, n));
      return cu::kSuccess;
    };
    d.cuMemcpyDtoDAsync = [](cu::DevicePtr a, cu::DevicePtr b, size_t n, cu::Stream) {
      fake().calls.push_back(fmt::format("copy {:#x} {:#x} {}", a, b, n));
      return cu::kSuccess;
    };
    d.cuMemsetD8Async = [](cu::DevicePtr p, unsigned char v, size_t n, cu::Stream) {
      fake().calls.push_back(fmt::format("set8 {:#x} {} {}", p, v, n));
      return cu::kSuccess;
    };
    d.cuMemsetD32Async = [](cu::DevicePtr p, unsigned v, size_t n, cu::Stream) {
      fake().calls.push_back(fmt::format("set32 {:#x} {} {}", p, v, n));
      return cu::kSuccess;
    };
    d.cuStreamCreate = [](cu::Stream* s, unsigned) { return fake_handle(s, "stream"); };
    d.cuStreamDestroy = [](cu::Stream) { return cu::kSuccess; };
    d.cuStreamSynchronize = [](cu::Stream) {
      fake().calls.emplace_back("synchronize");
      return cu::kSuccess;
    };
    d.cuStreamWaitEvent = [](cu::Stream s, cu::Event e, unsigned) {
      fake().calls.push_back(
          fmt::format("wait s{} e{}", reinterpret_cast<uintptr_t>(s), reinterpret_cast<uintptr_t>(e)));
      return cu::kSuccess;
    };
    d.cuEventCreate = [](cu::Event* e, unsigned) { return fake_handle(e, "event"); };
    d.cuEventDestroy = [](cu::Event) { return cu::kSuccess; };
    d.cuEventRecord = [](cu::Event e, cu::Stream s) {
      fake().calls.push_back(
          fmt::format("record e{} s{}", reinterpret_cast<uintptr_t>(e), reinterpret_cast<uintptr_t>(s)));
      return cu::kSuccess;
    };
    d.cuTensorMapEncodeTiled = [](cu::TensorMap*, int, unsigned, void* address, const uint64_t*, const uint64_t*,
                                  const uint32_t*, const uint32_t*, int, int, int, int) {
      fake().encoded.push_back(reinterpret_cast<uint64_t>(address));
      return cu::kSuccess;
    };
    return d;
  }();
  return driver;
}

}  // namespace solstice::rt
