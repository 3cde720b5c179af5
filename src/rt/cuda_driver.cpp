#include "rt/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

namespace solstice::rt {
namespace {

constexpr int kApiVersion = 12000;
using GetProcAddress = cu::Result (*)(const char*, void**, int, uint64_t, int*);

Error no_driver(const std::string& why) {
  return fail(Code::no_driver, "the CUDA driver cannot be used: " + why,
              "install NVIDIA's driver 525 or newer; `solstice doctor` says what else is missing");
}

Status load_functions(Driver& driver, GetProcAddress get) {
  const auto load = [&](const char* name, auto& slot) -> Status {
    void* found = nullptr;
    if (get(name, &found, kApiVersion, 0, nullptr) != cu::kSuccess || !found) {
      return no_driver(fmt::format("it is older than CUDA 12.0: it has no `{}`", name));
    }
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(found);
    return success();
  };
#define CUDA_FUNCTION(name, parameters) SOLSTICE_CHECK(load(#name, driver.name));
#include "rt/cuda_functions.def"
#undef CUDA_FUNCTION
  return success();
}

Status load(Driver& driver) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return no_driver("libcuda.so.1 cannot be loaded");
  }
  const auto get = reinterpret_cast<GetProcAddress>(::dlsym(library, "cuGetProcAddress_v2"));
  if (!get) return no_driver("it is older than CUDA 12.0");
  SOLSTICE_CHECK(load_functions(driver, get));
  constexpr cu::Result kNoDevice = 100;
  const cu::Result started = driver.cuInit(0);
  if (started == kNoDevice)
    return fail(Code::no_gpu, "the CUDA driver finds no GPU", "`nvidia-smi` lists those that it sees");
  if (started != cu::kSuccess) return no_driver(driver.check(started, "cuInit").error().message);
  return success();
}

}  // namespace

Status Driver::check(cu::Result result, std::string_view what) const {
  if (result == cu::kSuccess) return success();
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName) cuGetErrorName(result, &name);
  if (cuGetErrorString) cuGetErrorString(result, &text);
  constexpr cu::Result kOutOfMemory = 2;
  return fail(result == kOutOfMemory ? Code::too_large : Code::cuda_error,
              fmt::format("{}: {} ({}, {})", what, text ? text : "unknown error", name ? name : "?", result));
}

Result<const Driver*> cuda_driver() {
  static Driver driver;
  static const Status loaded = load(driver);
  if (!loaded.ok()) return loaded.error();
  return &driver;
}

Result<DeviceContext> DeviceContext::open(const Driver& driver, int ordinal) {
  int count = 0;
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGetCount(&count), "count the GPUs"));
  if (ordinal < 0 || ordinal >= count) {
    return fail(Code::no_gpu, fmt::format("there is no GPU {}", ordinal),
                fmt::format("{} are visible, counted from 0: CUDA_VISIBLE_DEVICES hides others", count));
  }
  cu::Device device = 0;
  SOLSTICE_CHECK(driver.check(driver.cuDeviceGet(&device, ordinal), "open the GPU"));
  DeviceContext out(driver, device);
  SOLSTICE_CHECK(driver.check(driver.cuDevicePrimaryCtxRetain(&out.context_, device), "create a CUDA context"));
  SOLSTICE_CHECK(out.make_current());
  return out;
}

DeviceContext::DeviceContext(DeviceContext&& other) noexcept
    : driver_(other.driver_), device_(other.device_), context_(std::exchange(other.context_, nullptr)) {}

DeviceContext::~DeviceContext() {
  if (context_) driver_->cuDevicePrimaryCtxRelease(device_);
}

Status DeviceContext::make_current() const {
  return driver_->check(driver_->cuCtxSetCurrent(context_), "make the CUDA context current");
}

InContext::InContext(const Driver& driver, const DeviceContext& context) : driver_(driver) {
  driver_.cuCtxGetCurrent(&before_);
  driver_.cuCtxSetCurrent(context.handle());
}

Result<int> DeviceContext::attribute(cu::DeviceAttribute which) const {
  int value = 0;
  SOLSTICE_CHECK(driver_->check(driver_->cuDeviceGetAttribute(&value, which, device_), "read a GPU attribute"));
  return value;
}

std::string DeviceContext::name() const {
  char text[128] = {};
  return driver_->cuDeviceGetName(text, sizeof text, device_) == cu::kSuccess ? text : "unknown GPU";
}

std::string DeviceContext::bus_id() const {
  char text[64] = {};
  return driver_->cuDeviceGetPCIBusId(text, sizeof text, device_) == cu::kSuccess ? text : "";
}

}  // namespace solstice::rt
