#include "run/gpu_clocks.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace solstice::run {

struct GpuClocks::Nvml {
  int (*init)() = nullptr;
  int (*by_bus)(const char* id, void** device) = nullptr;
  int (*clock)(void* device, int which, unsigned* mhz) = nullptr;
  int (*throttle)(void* device, unsigned long long* reasons) = nullptr;
  int (*temperature)(void* device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(void* device, unsigned* milliwatts) = nullptr;
  int (*energy)(void* device, unsigned long long* millijoules) = nullptr;  // null: an old NVML
};

namespace {

template <typename T>
bool find(void* library, const char* name, T& out) {
  out = reinterpret_cast<T>(::dlsym(library, name));
  return out != nullptr;
}

Error unavailable(const std::string& why) { return fail(Code::no_driver, "NVML cannot be used: " + why); }

}  // namespace

Result<GpuClocks> GpuClocks::open(const std::string& bus_id) {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    return unavailable(why ? why : "libnvidia-ml.so.1 was not found");
  }
  auto nvml = std::make_shared<Nvml>();
  const bool whole = find(library, "nvmlInit_v2", nvml->init) &&
                     find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml->by_bus) &&
                     find(library, "nvmlDeviceGetClockInfo", nvml->clock) &&
                     find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml->throttle) &&
                     find(library, "nvmlDeviceGetTemperature", nvml->temperature) &&
                     find(library, "nvmlDeviceGetPowerUsage", nvml->power);
  if (!whole) return unavailable("it lacks a function");
  (void)find(library, "nvmlDeviceGetTotalEnergyConsumption", nvml->energy);
  void* device = nullptr;
  if (const int error = nvml->init()) return unavailable(fmt::format("it does not start (error {})", error));
  if (const int error = nvml->by_bus(bus_id.c_str(), &device))
    return unavailable(fmt::format("it does not know GPU {} (error {})", bus_id, error));
  return GpuClocks(std::move(nvml), device);
}

ClockReading GpuClocks::read() const {
  constexpr int kSm = 1, kMemory = 2, kGpuSensor = 0;
  unsigned sm = 0, memory = 0, celsius = 0, milliwatts = 0;
  unsigned long long reasons = 0;
  ClockReading out;  // a reading that fails stays unknown
  if (nvml_->clock(device_, kSm, &sm) == 0) out.sm_mhz = static_cast<int>(sm);
  if (nvml_->clock(device_, kMemory, &memory) == 0) out.memory_mhz = static_cast<int>(memory);
  if (nvml_->throttle(device_, &reasons) == 0) out.throttle = static_cast<int64_t>(reasons);
  if (nvml_->temperature(device_, kGpuSensor, &celsius) == 0) out.celsius = static_cast<int>(celsius);
  if (nvml_->power(device_, &milliwatts) == 0) out.watts = milliwatts * 1e-3;
  return out;
}

std::optional<double> GpuClocks::joules() const {
  unsigned long long millijoules = 0;
  if (!nvml_->energy || nvml_->energy(device_, &millijoules) != 0) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace solstice::run
