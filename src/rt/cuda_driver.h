// The CUDA driver, opened with dlopen: the same binary runs where there is none.
//
// Errors: no_driver (library missing or older than CUDA 12.0), no_gpu, cuda_error with the driver's own words.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/cuda_types.h"

namespace solstice::rt {

// A table of the driver's functions; a test may fill one with its own.
struct Driver {
#define CUDA_FUNCTION(name, parameters) cu::Result(*name) parameters = nullptr;
#include "rt/cuda_functions.def"
#undef CUDA_FUNCTION

  // Success, or the error `while` doing what is named.
  Status check(cu::Result result, std::string_view what) const;
};

// Loaded and initialised on the first call; later calls give the same answer.
Result<const Driver*> cuda_driver();

// While it lives, calls of this thread that allocate, free or synchronise neither fail nor end a graph capture that
// some stream of the process is in: a garbage collector may unload a plan, and another thread prepare one, at any time.
class OutsideCaptures {
 public:
  explicit OutsideCaptures(const Driver& driver) : driver_(driver) {
    driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~OutsideCaptures() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  OutsideCaptures(const OutsideCaptures&) = delete;

 private:
  const Driver& driver_;
  int mode_ = cu::kCaptureRelaxed;  // then the thread's own
};

// One device with its primary context, current in this thread. Released when it dies.
class DeviceContext {
 public:
  static Result<DeviceContext> open(const Driver& driver, int ordinal);
  DeviceContext(DeviceContext&& other) noexcept;
  DeviceContext& operator=(DeviceContext&&) = delete;
  ~DeviceContext();

  Status make_current() const;
  Result<int> attribute(cu::DeviceAttribute which) const;
  std::string name() const;
  std::string bus_id() const;  // "0000:0f:00.0"
  cu::Device device() const { return device_; }
  cu::Context handle() const { return context_; }

 private:
  DeviceContext(const Driver& driver, cu::Device device) : driver_(&driver), device_(device) {}
  const Driver* driver_;
  cu::Device device_ = 0;
  cu::Context context_ = nullptr;
};

// While it lives a device's context is current in this thread, afterwards the one that was before: for what has to be
// freed where it was made, whichever thread comes to it.
class InContext {
 public:
  InContext(const Driver& driver, const DeviceContext& context);
  ~InContext() { driver_.cuCtxSetCurrent(before_); }
  InContext(const InContext&) = delete;

 private:
  const Driver& driver_;
  cu::Context before_ = nullptr;
};

}  // namespace solstice::rt
