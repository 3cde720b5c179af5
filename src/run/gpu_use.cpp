#include "run/gpu_use.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "base/file.h"

namespace solstice::run {
namespace {

constexpr int kBusyPercent = 20;
constexpr double kNotable = 1024.0 * 1024 * 1024;  // less is what a driver's own services take

// NVML's structures, as its ABI has had them since CUDA 11.
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

class UseReader {
 public:
  static Result<UseReader> open(const std::string& bus_id) {
    UseReader out;
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(Code::no_driver, "NVML (libnvidia-ml.so.1) cannot be opened");
    int (*init)() = nullptr;
    int (*by_bus)(const char*, void**) = nullptr;
    const bool whole = get(library, "nvmlInit_v2", init) && get(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus) &&
                       get(library, "nvmlDeviceGetMemoryInfo", out.memory_) &&
                       get(library, "nvmlDeviceGetUtilizationRates", out.utilization_) &&
                       get(library, "nvmlDeviceGetComputeRunningProcesses_v3", out.processes_) &&
                       get(library, "nvmlDeviceGetName", out.name_) &&
                       get(library, "nvmlSystemGetDriverVersion", out.driver_);
    if (!whole)
      return fail(Code::no_driver, "NVML lacks a function: it is older than CUDA 12.0", "install a newer driver");
    if (const int error = init()) return fail(Code::no_driver, fmt::format("NVML does not start (error {})", error));
    if (const int error = by_bus(bus_id.c_str(), &out.device_)) {
      return fail(Code::no_driver, fmt::format("NVML does not know GPU {} (error {})", bus_id, error));
    }
    return out;
  }

  Result<int> utilization() const {
    NvmlUtilization rates{};
    if (const int error = utilization_(device_, &rates))
      return fail(Code::not_yet, fmt::format("NVML error {}", error));
    return static_cast<int>(rates.gpu);
  }

  void fill(GpuUse& use) const {
    std::array<char, 96> text{};
    if (name_(device_, text.data(), text.size()) == 0) use.gpu = text.data();
    if (driver_(text.data(), text.size()) == 0) use.driver = text.data();
    NvmlMemory memory{};
    if (memory_(device_, &memory) == 0) {
      use.memory_used = Bytes(static_cast<double>(memory.used));
      use.memory_total = Bytes(static_cast<double>(memory.total));
    }
    std::array<NvmlProcess, 64> found{};
    unsigned count = found.size();
    if (processes_(device_, &count, found.data()) != 0) return;
    for (unsigned i = 0; i < count; ++i) {
      constexpr unsigned long long kUnknown = ~0ull;
      const double bytes = found[i].used == kUnknown ? 0 : static_cast<double>(found[i].used);
      use.users.push_back({static_cast<int64_t>(found[i].pid), process_name(found[i].pid), Bytes(bytes)});
    }
  }

 private:
  template <typename T>
  static bool get(void* library, const char* name, T& out) {
    out = reinterpret_cast<T>(::dlsym(library, name));
    return out != nullptr;
  }

  static std::string process_name(unsigned pid) {
    const Result<std::string> name = read_file(fmt::format("/proc/{}/comm", pid));
    return name.ok() ? name->substr(0, name->find('\n')) : "";
  }

  void* device_ = nullptr;
  int (*memory_)(void*, NvmlMemory*) = nullptr;
  int (*utilization_)(void*, NvmlUtilization*) = nullptr;
  int (*processes_)(void*, unsigned*, NvmlProcess*) = nullptr;
  int (*name_)(void*, char*, unsigned) = nullptr;
  int (*driver_)(char*, unsigned) = nullptr;
};

std::string listing(const GpuUse& use) {
  std::string out;
  for (const GpuUser& user : use.users) {
    out += fmt::format("{}process {}{}{}", out.empty() ? "" : ", ", user.pid,
                       user.name.empty() ? "" : " (" + user.name + ")",
                       user.memory.value > 0 ? fmt::format(" with {:.1f} GiB", user.memory.value / kNotable) : "");
  }
  return out.empty() ? "a process that NVML does not show here (outside this container, perhaps)" : out;
}

}  // namespace

Result<GpuUse> gpu_use(const std::string& bus_id) {
  SOLSTICE_TRY(const UseReader reader, UseReader::open(bus_id));
  GpuUse use;
  Result<int> busy = reader.utilization();
  if (busy.ok() && *busy >= kBusyPercent) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    busy = reader.utilization();
  }
  if (busy.ok()) use.utilization = *busy;
  if (!busy.ok()) use.unknown = busy.error().message;
  reader.fill(use);
  return use;
}

Status refuse_busy(const GpuUse& use, int64_t own) {
  if (use.utilization.value_or(0) < kBusyPercent) return success();  // use_note() tells of an unknown one
  const bool alone = !use.users.empty() &&
                     std::all_of(use.users.begin(), use.users.end(), [own](const GpuUser& u) { return u.pid == own; });
  if (alone) return success();
  return fail(Code::gpu_busy,
              fmt::format("the GPU ({}) is {} % busy, by {}, and times measured next to other work are not valid",
                          use.gpu, *use.utilization, listing(use)),
              "wait for it to end, or choose another GPU with CUDA_VISIBLE_DEVICES");
}

std::string use_note(const GpuUse& use) {
  std::string out;
  if (!use.utilization)
    out = fmt::format("whether others keep the GPU busy is unknown: its utilization cannot be read ({})", use.unknown);
  if (use.memory_used.value < kNotable) return out;
  if (!out.empty()) out += "; ";
  return out + fmt::format("others held {:.1f} of {:.1f} GiB of the GPU's memory when the run began: {}",
                           use.memory_used.value / kNotable, use.memory_total.value / kNotable, listing(use));
}

}  // namespace solstice::run
