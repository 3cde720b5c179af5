// Device memory in the judge's own process: owned buffers, memory of other processes opened through CUDA IPC, and
// tensors in either.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "rt/cuda_driver.h"

namespace solstice::run {

// A tensor somewhere in device memory that this process can read. Strides in elements; `bytes` is the physical extent
// from the first element.
struct DeviceTensor {
  cu::DevicePtr address = 0;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t bytes = 0;

  int64_t elements() const;
  bool dense() const;  // row-major without gaps
};

// Row-major strides of a shape.
std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape);

class DeviceBuffer {
 public:
  static Result<DeviceBuffer> allocate(const rt::Driver& driver, int64_t bytes);  // too_large
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();
  cu::DevicePtr address() const { return address_; }
  int64_t bytes() const { return bytes_; }

 private:
  const rt::Driver* driver_ = nullptr;
  cu::DevicePtr address_ = 0;
  int64_t bytes_ = 0;
};

// Allocations of other processes, each opened once however many tensors lie in it. Memory stays taken while it is open
// here, also when its owner frees it: close what is no longer needed.
class IpcImports {
 public:
  explicit IpcImports(const rt::Driver& driver) : driver_(driver) {}
  IpcImports(const IpcImports&) = delete;
  ~IpcImports();

  // Sets the owner of what is opened from now on, any address that tells owners apart.
  void belong_to(const void* owner) { owner_ = owner; }

  // The allocation's first byte here. Errors bad_record (no handle), cuda_error.
  Result<cu::DevicePtr> open(const std::string& hex_handle);
  bool holds(const std::string& hex_handle) const { return open_.contains(hex_handle); }
  void close(const std::string& hex_handle);
  void close_all();
  void close_all_of(const void* owner);

 private:
  const rt::Driver& driver_;
  struct Opened {
    cu::DevicePtr address = 0;
    const void* owner = nullptr;
  };
  const void* owner_ = nullptr;
  std::map<std::string, Opened> open_;
};

}  // namespace solstice::run
