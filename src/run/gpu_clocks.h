// Clocks, temperature, power, energy and throttle reasons by NVML, opened with dlopen.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "record/timing.h"

namespace solstice::run {

class GpuClocks {
 public:
  // `bus_id` as the CUDA driver gives it. Error no_driver where NVML is missing or does not know the GPU.
  static Result<GpuClocks> open(const std::string& bus_id);
  ClockReading read() const;  // takes a few hundred microseconds; what NVML refuses is unknown in it
  // Energy of the whole GPU since the driver was loaded; the counter moves every few tens of milliseconds. Nothing if
  // the GPU has no counter (before Volta).
  std::optional<double> joules() const;

 private:
  struct Nvml;
  GpuClocks(std::shared_ptr<const Nvml> nvml, void* device) : nvml_(std::move(nvml)), device_(device) {}
  std::shared_ptr<const Nvml> nvml_;
  void* device_;
};

}  // namespace solstice::run
