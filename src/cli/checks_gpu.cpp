// The GPU's side of `doctor`: driver, device, counters, energy.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/file.h"
#include "base/paths.h"
#include "cli/checks.h"
#include "cli/view/table.h"
#include "diagnose/counters/ncu.h"
#include "machine/machine.h"
#include "rt/cuda_driver.h"
#include "run/gpu_use.h"

namespace solstice::cli {
namespace {

constexpr const char* kWithoutCounters = "findings come from ptxas, SASS and timing alone";
constexpr const char* kWithoutGpu = "nothing is measured: --device model predicts times and interprets equations";

// The use of the GPU by others, asked before this process opens it; nothing if NVML cannot say.
std::optional<run::GpuUse> use_of(const rt::Driver& driver, int ordinal) {
  cu::Device device = 0;
  std::array<char, 64> bus{};
  if (driver.cuDeviceGet(&device, ordinal) != cu::kSuccess) return std::nullopt;
  if (driver.cuDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device) != cu::kSuccess) return std::nullopt;
  Result<run::GpuUse> use = run::gpu_use(bus.data());
  return use.ok() ? std::optional(std::move(use).value()) : std::nullopt;
}

// Others' work and memory, which no machine file can make up for.
void note_others(const std::optional<run::GpuUse>& use, Finding& finding) {
  if (!use) return;
  const Status busy = run::refuse_busy(*use);
  const std::string note = run::use_note(*use);
  if (busy.ok() && note.empty()) return;
  finding.health = Health::kLimited;
  finding.found += "; " + (busy.ok() ? note : busy.error().message);
  if (!finding.costs.empty()) finding.costs += "; ";
  finding.costs += "others use this GPU: times will be noisy and large problems may not fit";
  if (finding.remedy.empty()) finding.remedy = "use another GPU (CUDA_VISIBLE_DEVICES)";
}

Finding describe(const rt::Driver& driver, int ordinal) {
  const std::optional<run::GpuUse> use = use_of(driver, ordinal);
  Finding finding{fmt::format("GPU {}", ordinal), Health::kGood, "", "", ""};
  const Result<rt::DeviceContext> context = rt::DeviceContext::open(driver, ordinal);
  if (!context.ok()) {
    finding.health = Health::kMissing;
    finding.found = context.error().message;
    finding.costs = kWithoutGpu;
    finding.remedy = "see which processes use it (nvidia-smi); its compute mode may be exclusive";
    note_others(use, finding);
    return finding;
  }
  size_t free = 0, total = 0;
  const Status memory = driver.check(driver.cuMemGetInfo(&free, &total), "asking for free memory");
  finding.found = context->name();
  if (memory.ok()) {
    finding.found +=
        fmt::format(", {} of {} free", show(Bytes(static_cast<double>(free))), show(Bytes(static_cast<double>(total))));
  }
  const Result<int> major = context->attribute(cu::kComputeMajor);
  const Result<int> minor = context->attribute(cu::kComputeMinor);
  if (major.ok() && minor.ok()) finding.found += fmt::format(", compute capability {}.{}", *major, *minor);
  const Result<machine::Machine> machine = machine::machine_of_device(context->name());
  finding.found += machine.ok() ? ", machine file " + machine->name : ", no machine file";
  if (!major.ok() || *major != 9) {
    finding.health = Health::kLimited;
    finding.costs = "the tensor-core families are written for compute capability 9.0";
  } else if (!machine.ok()) {
    finding.health = Health::kLimited;
    finding.costs = "`optimize` needs --machine NAME";
    finding.remedy = machine.error().hint;
  } else if (machine->measured.empty()) {
    finding.health = Health::kLimited;
    finding.costs = "the practical bound uses datasheet figures";
    finding.remedy = "solstice calibrate";
  }
  note_others(use, finding);
  return finding;
}

bool library_opens(const char* name) {
  void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle) ::dlclose(handle);
  return handle != nullptr;
}

Finding check_nvml() {
  if (library_opens("libnvidia-ml.so.1")) return {"NVML", Health::kGood, "libnvidia-ml.so.1", "", ""};
  return {"NVML", Health::kMissing, "libnvidia-ml.so.1 cannot be opened",
          "no clocks, throttle reasons or energy in reports", ""};
}

// Kernel spans come from CUPTI activity records, which any user may read; hardware counters may be reserved to root.
Finding check_counters() {
  const Result<std::string> parameters = read_file("/proc/driver/nvidia/params");
  const bool restricted = parameters.ok() && parameters->find("RmProfilingAdminOnly: 1") != std::string::npos;
  const Result<std::filesystem::path> ncu = diagnose::find_ncu();
  Finding finding{"counters", Health::kGood, "", "", ""};
  finding.found = ncu.ok() ? "ncu at " + ncu->string() : ncu.error().message;
  if (restricted) finding.found += ", counters are for administrators only";
  if (restricted || !ncu.ok()) {
    finding.health = Health::kLimited;
    finding.costs = kWithoutCounters;
    finding.remedy = restricted ? "load the driver with NVreg_RestrictProfilingToAdminUsers=0" : ncu.error().hint;
  }
  return finding;
}

// The parts that need a GPU are missing too: the list shows everything that an installation has to provide.
void without_gpu(std::vector<Finding>& all, const std::string& found, const std::string& remedy) {
  all.push_back({"GPU", Health::kMissing, found, kWithoutGpu, remedy});
  all.push_back(check_nvml());
  all.push_back({"counters", Health::kMissing, "no GPU to read them from", kWithoutCounters, ""});
}

}  // namespace

std::vector<Finding> check_gpu() {
  std::vector<Finding> all;
  const Result<const rt::Driver*> driver = rt::cuda_driver();
  if (!driver.ok()) {
    all.push_back(
        {"CUDA driver", Health::kMissing, driver.error().message, kWithoutGpu, "install NVIDIA's driver 525 or newer"});
    without_gpu(all, "none can be used without the driver", "");
    return all;
  }
  int version = 0, count = 0;
  if ((*driver)->cuDriverGetVersion(&version) == cu::kSuccess) {
    all.push_back(
        {"CUDA driver", Health::kGood, fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10), "", ""});
  }
  if ((*driver)->cuDeviceGetCount(&count) != cu::kSuccess || count == 0) {
    without_gpu(all, "the driver sees none", "check nvidia-smi and CUDA_VISIBLE_DEVICES");
    return all;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) all.push_back(describe(**driver, ordinal));
  all.push_back(check_nvml());
  all.push_back(check_counters());
  return all;
}

}  // namespace solstice::cli
